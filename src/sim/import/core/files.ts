import { objectOf, type SimBlock, textOf } from '../../sim-document.ts'
import type { BlockToMap, MappedBlock, Mapping, Placeholder } from '../mapping.ts'
import { parseJson, type SimValues } from '../sim-values.ts'
import { rowsOf } from './api.ts'
import { renamed } from './branches.ts'

/** Downloads, and archives with files of a run, have a counterpart. The files of a workspace in Sim do not. */
export function mapFile({ block, values }: BlockToMap): Mapping {
  const operation = textOf(values.peek('operation')) || (defaultOperations.get(block.type) ?? 'file_parser')
  const mapping = mappingOf(operation, block, values)
  if ('needs' in mapping) return mapping
  values.drop('inputMethod')
  const given = values.take('operation')
  return given === undefined ? mapping : { ...mapping, kept: { operation: given } }
}

const defaultOperations: ReadonlyMap<string, string> = new Map([
  ['file_v4', 'file_read'],
  ['file_v5', 'file_read'],
])

function mappingOf(operation: string, block: SimBlock, values: SimValues): MappedBlock | Placeholder {
  switch (operation) {
    case 'file_fetch':
      return fetched(values, 'fileUrl')
    case 'file_parser':
    case 'file_parser_v3':
      return parsed(block, values)
    case 'file_compress': {
      const input = filesOf('compress', block, values)
      if (input === undefined) return { needs: `a data block with the operation zip_create, and ${filesOfRun}` }
      const fileName = values.text('archiveName')
      return {
        type: 'data',
        params: { operation: 'zip_create', input, ...(fileName === undefined ? {} : { options: { fileName } }) },
        output: ([first, second, ...rest]) => (first === 'files' && second === 0 ? ['file', ...rest] : undefined),
      }
    }
    case 'file_decompress': {
      const input = filesOf('decompress', block, values)
      if (input === undefined) return { needs: `a data block with the operation zip_extract, and ${filesOfRun}` }
      return {
        type: 'data',
        params: { operation: 'zip_extract', input },
        output: (path) => (path[0] === 'files' || path[0] === 'file' ? renamed(path, { files: 'data' }) : undefined),
      }
    }
    case 'file_get_content':
      return { needs: readsFormat }
    case 'file_read':
    case 'file_get':
      return {
        needs: 'to be deleted: name the files of a run in the blocks that use them, or read them with an S3 block',
      }
    default:
      return { needs: 'an S3 block: a workspace here has no files, and a bucket keeps them' }
  }
}

const filesOfRun = 'files of the run, such as <start.documents>: a workspace here has no files'
const readsFormat = 'a data block with the operation for the format of the file, such as pdf_text or csv_parse'

/** The older blocks take an address, files of the workspace, or files of the run. */
function parsed(block: SimBlock, values: SimValues): MappedBlock | Placeholder {
  const id = block.type === 'file_v3' ? 'fileUrl' : 'filePath'
  const address = textOf(values.peek(id)).trim()
  const isUploaded = textOf(values.peek('inputMethod')) === 'upload' || (address === '' && values.peek('file'))
  if (isUploaded) return { needs: `${readsFormat}, and ${filesOfRun}` }
  // In the first version, this is always an address.
  if (block.type !== 'file' && wholeReference.test(address)) return { needs: readsFormat }
  return fetched(values, id)
}

/** Sim also converts what it downloads to a text. */
function fetched(values: SimValues, id: string): MappedBlock {
  const url = values.text(id)?.trim() ?? ''
  const headers = rowsOf(values.peek('headers'))
  if (headers) values.take('headers')
  const isText = textAddress.test(url)
  const params = { url, responseType: isText ? 'text' : 'file', retries: 0 }
  return {
    type: 'api',
    params: { ...params, ...(headers && headers.length > 0 ? { headers } : {}) },
    output: ([first, second, ...rest]) => {
      if (first === 'combinedContent') return isText ? ['data'] : undefined
      return !isText && (first === 'files' || first === 'processedFiles') && second === 0
        ? ['data', ...rest]
        : undefined
    },
    notes: [
      ...(url === '' ? ['The file has no URL for this block. Enter one.'] : []),
      isText
        ? 'The block returns the text of the file as it is. A data block can read its format.'
        : 'The block returns the file. To read its text, add a data block, for example with the operation pdf_text.',
    ],
  }
}

const textAddress = /\.(?:txt|md|log|csv|tsv|json|jsonl|xml|ya?ml|html?)(?:[?#][^<>]*)?$/i
const wholeReference = /^<[^<>]+>$/

/** Files of earlier blocks. Undefined for files of the workspace, which an export does not contain. */
function filesOf(prefix: string, block: SimBlock, values: SimValues): string | string[] | undefined {
  const mode = objectOf(block.data['canonicalModes'])[`${prefix}Input`]
  const isPicked = mode === 'basic' && Boolean(values.peek(`${prefix}File`))
  const written = textOf(values.peek(`${prefix}FileId`)).trim()
  const list: unknown = parseJson(written)
  const references = Array.isArray(list) ? (list as unknown[]).map(textOf) : [written]
  if (isPicked || references.length === 0 || !references.every((each) => wholeReference.test(each))) return undefined
  values.take(`${prefix}FileId`)
  return Array.isArray(list) ? references : written
}
