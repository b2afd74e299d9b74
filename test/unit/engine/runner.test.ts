import { describe, expect, test } from 'bun:test'
import { block, document } from '../../support/make.ts'
import { World } from './world.ts'

const trigger = block('start', 'api_trigger')
const set = (id: string, value: unknown) => block(id, 'variables', { assign: [{ name: 'v', value }] })
const variables = { v: { value: null } }

describe('the runner', () => {
  test('a run executes at most the allowed number of blocks', async () => {
    const small = new World({ limits: { blocksMax: 10 } })
    const { record } = await small.run(loopOf(100))
    expect(record.failure?.message).toContain('MILLRACE_BLOCKS_MAX')
    await small.stop()
  })

  test('no onError setting continues a run that has exceeded a limit, however deep its block is nested', async () => {
    const small = new World({
      limits: { blocksMax: 10, runBytesMax: 100_000 },
      deployed: { long: loopOf(100, 'continue') },
    })
    const calling = document({
      blocks: [trigger, block('call', 'workflow', { workflowId: 'long', onError: 'continue' }), set('after', 1)],
      edges: ['start > call', 'call > after'],
      variables,
    })
    for (const each of [loopOf(100, 'continue'), calling]) {
      expect((await small.run(each)).record.failure?.message).toContain('MILLRACE_BLOCKS_MAX')
    }
    const big = document({
      blocks: [
        trigger,
        block('f', 'function', { code: 'return "x".repeat(200_000)', onError: 'continue' }),
        block('slow', 'wait', { ms: 60_000 }),
      ],
      edges: ['start > f', 'start > slow'],
    })
    const { record } = await small.run(big)
    expect(record.failure).toMatchObject({
      code: 'EXECUTION_FAILED',
      message: expect.stringContaining('MILLRACE_RUN_BYTES_MAX'),
    })
    await small.stop()
  })

  test('the parameters and outputs of a block hold at most the allowed bytes, and an error edge handles more', async () => {
    const small = new World({ limits: { blockBytesMax: 100_000 } })
    const reply = (id: string, data: unknown) => block(id, 'response', { data })
    const text = '<start.input.text>'
    const large = [
      reply('large', { text: text.repeat(50) }),
      reply('large', { texts: Array(50).fill(text) }),
      reply('large', Array(50).fill(`the list: <start.input.list>`)),
      block('large', 'function', { code: `return [${`"${text}", `.repeat(50)}]` }),
      block('large', 'function', { code: 'return "x".repeat(200_000)' }),
    ]
    for (const each of large) {
      const blocks = [trigger, each, reply('sorry', '<large.error>')]
      const edges = ['start > large', 'large:error > sorry']
      const input = { text: 'x'.repeat(5_000), list: Array(500).fill('123') }
      const { record, response } = await small.run(document({ blocks, edges }), input)
      expect(record.root.children[1]?.error).toMatchObject({
        code: 'VALUE_TOO_LARGE',
        message: expect.stringContaining('MILLRACE_BLOCK_BYTES_MAX'),
      })
      expect(response?.data).toMatchObject({ code: 'VALUE_TOO_LARGE' })
    }
    await small.stop()
  })

  test('a run whose log entry is being written can be found but not cancelled', async () => {
    const written = Promise.withResolvers<void>()
    const gated = new World({ record: () => written.promise })
    const running = gated.run(
      document({ blocks: [trigger, block('w', 'wait', { ms: 1 })], edges: ['start > w'] }),
      {},
      { executionId: 'e-9' },
    )
    while (!gated.recorded) await Bun.sleep(1)
    expect(gated.runner.find('e-9')).toBeDefined()
    expect(gated.runner.cancel('e-9')).toBe(false)
    written.resolve()
    await running
    expect(gated.runner.find('e-9')).toBeUndefined()
    await gated.stop()
  })
})

function loopOf(iterations: number, onError: 'stop' | 'continue' = 'stop') {
  return document({
    variables,
    blocks: [trigger, block('loop', 'loop'), { ...set('inner', '<loop.index>'), parentId: 'loop' }],
    edges: ['start > loop', 'loop:loop-start-source > inner'],
    loops: { loop: { loopType: 'for', iterations, onError } },
  })
}
