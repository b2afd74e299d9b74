import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { block, document } from '../../../support/make.ts'
import { ExecutionWorld, echo, start } from '../execution-world.ts'

let world: ExecutionWorld
beforeAll(async () => {
  world = await ExecutionWorld.open()
})
afterAll(() => world.close())

const execute = (id: string, body: unknown) => world.call(`/api/v2/workflows/${id}/execute`, { body })

const failing = document({
  blocks: [start(), block('f', 'function', { code: 'throw new Error("no luck")' })],
  edges: ['start > f'],
})
describe('a run that pauses', () => {
  const waiting = document({
    blocks: [start(), block('w', 'approval', { title: 'Go on?', access: 'members' })],
    edges: ['start > w'],
  })

  test('responds with 200 and `paused`, and its stream ends with a final message', async () => {
    const id = await world.deploy(waiting)
    const { status, json } = await execute(id, {})
    expect(status).toBe(200)
    expect(json.data).toEqual({
      ...{ runId: expect.any(String), workflowId: id, status: 'paused', output: null, blockOutputs: null },
      ...{ error: null, startedAt: expect.any(String) },
    })
    const stream = await execute(id, { stream: true })
    expect(messagesOf(stream.text).at(-2)).toEqual({
      event: 'final',
      data: { success: true, output: null, status: 'paused' },
    })
  })
})

describe('a start that the limits of the workflow skip', () => {
  test('responds with 202 and starts nothing', async () => {
    const id = await world.deploy({
      ...echo,
      limits: { rate: { count: 1, windowMs: 60_000 }, beyond: 'skip' },
    } as typeof echo)
    expect((await execute(id, {})).status).toBe(200)
    const skipped = await execute(id, {})
    expect({ status: skipped.status, json: skipped.json }).toEqual({
      status: 202,
      json: { data: { status: 'skipped' } },
    })
    expect(skipped.headers.get('x-run-id')).toBeNull()
  })
})

const messagesOf = (text: string) =>
  [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? '') as unknown)

describe('a stream', () => {
  test('has chunks, one final message, and the terminator as JSON', async () => {
    const id = await world.deploy(echo)
    const { text, headers } = await execute(id, { input: { a: 1 }, stream: true, selectedOutputs: ['f.result.a'] })
    expect(headers.get('content-type')).toBe('text/event-stream')
    expect(headers.get('x-run-id')).toBeTruthy()
    expect(messagesOf(text)).toEqual([
      { blockId: 'f', chunk: '1' },
      { event: 'final', data: { success: true, output: { f: { 'result.a': 1 } } } },
      '[DONE]',
    ])
  })

  test('without selected outputs ends with the output of the run', async () => {
    const id = await world.deploy(echo)
    const { text } = await execute(id, { input: { a: 1 }, stream: true })
    expect(messagesOf(text).at(-2)).toEqual({
      event: 'final',
      data: { success: true, output: { result: { a: 1 }, stdout: '', error: null } },
    })
  })

  test('of a run that failed ends with an error', async () => {
    const id = await world.deploy(failing)
    const { text } = await execute(id, { stream: true })
    expect(messagesOf(text)).toEqual([
      { event: 'error', blockId: 'f', error: expect.stringContaining('no luck') },
      '[DONE]',
    ])
  })
})
