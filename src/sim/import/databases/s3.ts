import { outputsBy } from '../../services/outputs.ts'
import { textOf } from '../../sim-document.ts'
import type { BlockToMap, Mapping, Placeholder, WantedCredential } from '../mapping.ts'
import type { SimValues } from '../sim-values.ts'
import { credentialName } from './connection.ts'

type Call = { params: Record<string, unknown>; outputs: Readonly<Record<string, string>>; region?: string }

/** A block with the keys of an account becomes one that names a credential. */
export function mapS3({ values }: BlockToMap): Mapping {
  const operation = textOf(values.peek('operation')) || 'get_object'
  const call = callOf(operation, values)
  if ('needs' in call) return call
  const { credential, note } = accountOf(values, call.region)
  const given = values.take('operation')
  values.drop('region', 'getObjectRegion')
  if (textOf(values.peek('acl')) === 'private') values.drop('acl')
  const isWithoutBucket = call.params['bucket'] === ''
  return {
    type: 's3',
    params: { credential: credential.name, ...call.params },
    credentials: [credential],
    output: outputsBy(call.outputs),
    notes: [note, ...(isWithoutBucket ? ['The file has no bucket for this block. Enter one.'] : [])],
    ...(given === undefined ? {} : { kept: { operation: given } }),
  }
}

function callOf(operation: string, values: SimValues): Call | Placeholder {
  switch (operation) {
    case 'get_object':
      return readingOf(values)
    case 'put_object':
      return writingOf(values)
    case 'list_objects': {
      const limit = values.number('maxKeys') ?? values.text('maxKeys')
      const params = { operation: 'list', ...bucketOf(values), ...textsOf(values, { prefix: 'prefix' }) }
      const isLimit = typeof limit === 'string' || (limit !== undefined && limit >= 1)
      const capped = typeof limit === 'number' ? Math.min(Math.round(limit), 10_000) : limit
      return {
        params: { ...params, ...(isLimit ? { limit: capped } : {}) },
        outputs: { objects: 'items', 'metadata.isTruncated': 'hasMore' },
      }
    }
    case 'delete_object':
      return { params: { operation: 'delete', ...bucketOf(values), ...keyOf(values) }, outputs: {} }
    case 'presigned_url': {
      if (values.rest().some(([, value]) => value === 'put')) {
        return { needs: 'another way to receive files: an S3 block makes links for reading, not for writing' }
      }
      values.drop('method')
      const expiresS = values.number('expiresIn') ?? values.text('expiresIn')
      const params = { operation: 'presign', ...bucketOf(values), ...keyOf(values) }
      return { params: { ...params, ...(expiresS === undefined ? {} : { expiresS }) }, outputs: { url: 'url' } }
    }
    case 'copy_object':
      return { needs: 'two S3 blocks, one that reads the file and one that writes it to the other place' }
    default:
      return {
        needs:
          `an API block that sends the request for "${operation.slice(0, 100)}" to S3, with a credential of the kind ` +
          'aws_sigv4',
      }
  }
}

/** In Sim, the address of the file names the bucket, the region and the key. */
function readingOf(values: SimValues): Call | Placeholder {
  const address = textOf(values.peek('s3Uri')).trim()
  const outputs = {
    file: 'file',
    ...{ 'metadata.name': 'file.name', 'metadata.size': 'file.size', 'metadata.fileType': 'file.type' },
  }
  if (address === '') return { params: { operation: 'get', bucket: '', key: '' }, outputs }
  const groups = (address.match(hostedAddress) ?? address.match(s3Address))?.groups as
    | Record<string, string | undefined>
    | undefined
  const { bucket, region, key } = groups ?? {}
  if (bucket === undefined || key === undefined) {
    return { needs: 'an S3 block with the bucket and the key of the file, which the address in Sim does not show' }
  }
  values.take('s3Uri')
  return {
    params: { operation: 'get', bucket, key: decoded(key) },
    outputs,
    ...(region === undefined ? {} : { region }),
  }
}

const hostedAddress =
  /^https:\/\/(?<bucket>[a-z0-9][a-z0-9.-]{0,99})\.s3(?:[.-](?<region>[a-z0-9-]{1,30}))?\.amazonaws\.com\/(?<key>[^?#]+)/i
const s3Address = /^s3:\/\/(?<bucket>[a-z0-9][a-z0-9.-]{0,99})\/(?<key>.+)$/i

/** An address may contain a percent sign that is not an escape. */
function decoded(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}

function writingOf(values: SimValues): Call | Placeholder {
  const file = values.text('fileReference') ?? values.text('file')
  const uploaded = values.peek('uploadFile')
  if (file === undefined && typeof uploaded === 'object' && uploaded !== null) {
    return { needs: 'an S3 block with a file of the run: Sim does not export the file that was uploaded there' }
  }
  const body = file ?? values.text('content')
  return {
    params: {
      ...{ operation: 'put', ...bucketOf(values), ...keyOf(values) },
      ...(body === undefined ? {} : { body }),
      ...textsOf(values, { contentType: 'contentType' }),
    },
    outputs: {},
  }
}

function bucketOf(values: SimValues): { bucket: string } {
  return { bucket: values.text('bucketName')?.trim() ?? '' }
}

function keyOf(values: SimValues): { key: string } {
  return { key: values.text('objectKey') ?? '' }
}

function textsOf(values: SimValues, names: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(names).flatMap(([theirs, ours]) => {
      const text = values.text(theirs)
      return text === undefined ? [] : [[ours, text]]
    }),
  )
}

/** Blocks with the same key and region share a credential. The import keeps neither part of the key. */
function accountOf(values: SimValues, found: string | undefined) {
  const read = (id: string) => textOf(values.peek(id)).trim()
  const keyId = read('accessKeyId')
  const variables = [keyId, read('secretAccessKey')].flatMap((text) => text.match(variable)?.[1] ?? [])
  const region = found ?? (read('getObjectRegion') || read('region'))
  values.drop('accessKeyId', 'secretAccessKey')
  const shown = region.slice(0, 100)
  const account = variables.length > 0 ? variables[0]! : keyId.slice(-4)
  const credential: Required<WantedCredential> = { name: credentialName(['s3', account, shown]), kind: 'aws_sigv4' }
  const where = shown === '' ? '' : `, the region ${shown}`
  const was =
    variables.length === 0 ? '' : ` In Sim, the key was in ${variables.map((name) => `{{${name}}}`).join(', ')}.`
  return {
    credential,
    note: `Create the credential "${credential.name}" with the access key${where} and the service s3.${was}`,
  }
}

const variable = /^\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}$/
