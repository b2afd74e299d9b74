import { afterAll, describe, expect, test } from 'bun:test'
import { data } from '../../../src/blocks/data.ts'
import { registry } from '../../../src/blocks/registry.ts'
import { defaultLimits } from '../../../src/domain/limits.ts'
import type { FileObject } from '../../../src/domain/run/file.ts'
import { compilePlan } from '../../../src/engine/compile/plan.ts'
import { Formats } from '../../../src/formats/formats.ts'
import { block, document } from '../../support/make.ts'
import { World } from '../engine/world.ts'
import { makeContext, runBlock } from './context.ts'

const formats = new Formats({ workersMax: 1 })
afterAll(() => formats.stop())

function contextWith() {
  return makeContext({ doFormatWork: formats.run })
}

describe('the data block', () => {
  test('reads a text, and a file of the run', async () => {
    using context = contextWith()
    const params = { operation: 'csv_parse', options: { types: 'auto' } }
    const expected = { data: [{ a: 1, b: 'x' }], file: null, error: null }
    expect((await runBlock(data, { ...params, input: 'a,b\n1,x\n' }, context)).outputs).toEqual(expected)
    const file = await context.files.store(Buffer.from('a,b\n1,x\n'), { name: 'a.csv', type: 'text/csv' })
    expect((await runBlock(data, { ...params, input: file }, context)).outputs).toEqual(expected)
    // An input field for files is a list.
    expect((await runBlock(data, { ...params, input: [file] }, context)).outputs).toEqual(expected)
  })

  test('stores a file that it writes, which a later block reads', async () => {
    using context = contextWith()
    const options = { output: 'file', fileName: 'people.jsonl' }
    const written = await runBlock(data, { operation: 'csv_parse', input: 'a\n1\n2\n', options }, context)
    expect(written.outputs).toMatchObject({ data: { rows: 2 }, file: { name: 'people.jsonl', size: 20 } })
    const { file } = written.outputs as { file: FileObject }
    expect(await (await context.files.read(file.url))?.text()).toBe('{"a":"1"}\n{"a":"2"}\n')
    const read = await runBlock(data, { operation: 'jsonl_parse', input: file }, context)
    expect(read.outputs['data']).toEqual([{ a: '1' }, { a: '2' }])
  })

  test('reads a file at an address', async () => {
    using server = Bun.serve({ port: 0, fetch: () => new Response('a\n1\n') })
    using context = contextWith()
    const input = { url: server.url.href, name: 'a.csv', size: 0, type: 'text/csv' }
    const { outputs } = await runBlock(data, { operation: 'csv_parse', input }, context)
    expect(outputs['data']).toEqual([{ a: '1' }])
  })

  test('fails with a code that says whether the document or the parameter is wrong', async () => {
    using context = contextWith()
    const { error, outputs } = await runBlock(data, { operation: 'csv_parse', input: 'a\n"x' }, context)
    expect(error).toMatchObject({ code: 'INVALID_DOCUMENT' })
    expect(outputs).toMatchObject({ data: null, file: null, error: { code: 'INVALID_DOCUMENT' } })
    const wrong = await runBlock(data, { operation: 'csv_parse', input: { a: 1 } }, context)
    expect(wrong.error).toMatchObject({ code: 'INVALID_PARAMETER' })
  })

  test('keeps the setting for the size of its files', async () => {
    using context = makeContext({ doFormatWork: formats.run, limits: { ...defaultLimits, dataFileBytes: 10 } })
    const params = { operation: 'csv_parse', input: 'a\n1\n2\n', options: { output: 'file' } }
    expect((await runBlock(data, params, context)).error).toMatchObject({
      code: 'RESULT_TOO_LARGE',
      message: expect.stringContaining('MILLRACE_DATA_FILE_BYTES'),
    })
  })

  test('finds options of other operations when the workflow is deployed', () => {
    const findingsOf = (options: Record<string, unknown>) => {
      const made = document({
        blocks: [block('start', 'api_trigger'), block('it', 'data', { operation: 'csv_parse', input: 'a', options })],
        edges: ['start > it'],
      })
      return compilePlan(made, registry, defaultLimits).findings.map(({ path, message }) => ({ path, message }))
    }
    expect(findingsOf({ limit: '<start.input.limit>', header: false })).toEqual([])
    expect(findingsOf({ algorithm: 'md5' })).toMatchObject([
      { message: 'The option "algorithm" does not belong to the operation "csv_parse". Remove it.' },
    ])
    expect(findingsOf({ unknown: 1 })).toMatchObject([{ message: expect.stringContaining('Unknown') }])
  })
})

test('a run signs with a secret of its environment', async () => {
  const world = new World({ environment: { SIGNING_KEY: 'a very secret key' } })
  const params = { operation: 'hmac', input: '<start.input.text>', options: { secret: '{{SIGNING_KEY}}' } }
  const made = document({
    blocks: [block('start', 'api_trigger'), block('sign', 'data', params)],
    edges: ['start > sign'],
  })
  const { record } = await world.run(made, { text: 'hello' })
  await world.stop()
  expect(record.failure).toBeNull()
  expect(record.output).toMatchObject({
    data: new Bun.CryptoHasher('sha256', 'a very secret key').update('hello').digest('hex'),
  })
})
