import { describe, expect, test } from 'bun:test'
import { importSim } from '../../../src/sim/import/import-sim.ts'
import { simBlock, simFile } from '../../support/sim/files.ts'

function imported(type: string, values: Record<string, unknown>, code = '') {
  const blocks = [
    simBlock('start', 'start_trigger', {}, { name: 'Start' }),
    simBlock('b', type, values, { name: 'Paper' }),
    simBlock('after', 'function', { code }, { name: 'After' }),
  ]
  const result = importSim(simFile(blocks, ['start > b', 'b > after']))
  if ('details' in result) throw new Error(JSON.stringify(result.details))
  return { ...result, block: result.document.blocks['b']!, code: result.document.blocks['after']!.params?.['code'] }
}

describe('a file block of Sim', () => {
  test.each([
    ['file', { inputMethod: 'url', filePath: 'https://example.com/a.pdf' }, 'processedFiles'],
    ['file_v2', { filePath: 'https://example.com/a.pdf' }, 'files'],
    ['file_v3', { operation: 'file_parser_v3', fileUrl: 'https://example.com/a.pdf' }, 'files'],
    ['file_v4', { operation: 'file_fetch', fileUrl: 'https://example.com/a.pdf' }, 'files'],
    ['file_v5', { operation: 'file_fetch', fileUrl: 'https://example.com/a.pdf' }, 'files'],
  ])('of the type %s that downloads becomes a request that returns the file', (type, values, output) => {
    const { block, code, notes } = imported(type, values, `return <paper.${output}[0].name>`)
    expect(block).toMatchObject({ type: 'api', params: { url: 'https://example.com/a.pdf', responseType: 'file' } })
    expect(code).toBe('return <paper.data.name>')
    expect(notes.join('\n')).toContain('pdf_text')
    expect(notes.join('\n')).not.toContain('no effect')
  })

  test('that downloads a text returns it, with the headers of the request', () => {
    const headers = [{ id: '1', cells: { Key: 'Accept', Value: 'text/csv' } }]
    const { block, code } = imported(
      'file_v5',
      { operation: 'file_fetch', fileUrl: 'https://example.com/<start.day>.csv?all=1', headers },
      'return <paper.combinedContent>',
    )
    expect(block.params).toMatchObject({
      ...{ url: 'https://example.com/<start.input.day>.csv?all=1', responseType: 'text' },
      headers: [{ key: 'Accept', value: 'text/csv' }],
    })
    expect(code).toBe('return <paper.data>')
  })

  test('that packs or unpacks files of the run becomes a data block', () => {
    const packed = imported(
      'file_v5',
      { operation: 'file_compress', compressFileId: '["<start.a>", "<start.b>"]', archiveName: 'all.zip' },
      'return <paper.files[0]>',
    )
    expect(packed.block).toMatchObject({
      type: 'data',
      params: {
        ...{ operation: 'zip_create', input: ['<start.input.a>', '<start.input.b>'] },
        options: { fileName: 'all.zip' },
      },
    })
    expect(packed.code).toBe('return <paper.file>')
    const unpacked = imported(
      'file_v5',
      { operation: 'file_decompress', decompressFileId: '<start.zip>' },
      'return <paper.files[1].name>',
    )
    expect(unpacked.block.params).toMatchObject({ operation: 'zip_extract', input: '<start.input.zip>' })
    expect(unpacked.code).toBe('return <paper.data[1].name>')
  })

  test.each([
    ['file', { inputMethod: 'upload', file: [{ name: 'a.pdf' }] }, 'files of the run'],
    ['file_v3', { fileUrl: '<start.file>' }, 'the operation for the format'],
    ['file_v5', { operation: 'file_get_content', getContentFileId: '<start.file>' }, 'the operation for the format'],
    ['file_v5', { operation: 'file_compress', compressFileId: 'wf_123' }, 'zip_create'],
    ['file_v5', { operation: 'file_decompress', decompressFile: { id: 'wf_1' } }, 'zip_extract'],
    ['file_v4', { readFileId: 'wf_123' }, 'to be deleted'],
    ['file_v4', { operation: 'file_write', fileName: 'a.txt', content: 'a' }, 'an S3 block'],
  ])('of the type %s stays a placeholder without a counterpart: %j', (type, values, needs) => {
    const { block, placeholders } = imported(type, values)
    expect(block.type).toBe('placeholder')
    expect(placeholders[0]?.needs).toContain(needs)
  })
})
