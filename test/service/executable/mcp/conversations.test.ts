import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import '../../../support/built.ts'
import { type ConnectedMcp, startConnected } from '../../../support/mcp-client.ts'
import { Conversation } from '../../../support/mcp-conversation.ts'

// Whole conversations of clients that know only the address and a key. The folder `recorded` has the conversations.

let mcp: ConnectedMcp

beforeAll(async () => {
  mcp = await startConnected()
}, 120_000)
afterAll(() => mcp?.[Symbol.asyncDispose]())

const recording = (name: string) => join(import.meta.dir, 'recorded', `${name}.md`)

type Saved = { workflowId: string; revision: number; findings: { level: string; blockId: string | null }[] }
type Run = { executionId: string; status: string; output: unknown }
const errorsIn = ({ findings }: Saved) => findings.filter(({ level }) => level === 'error')

describe('a scripted agent', () => {
  test('lists, builds, tests and deploys a workflow of five blocks through tools alone', async () => {
    const talk = new Conversation(mcp.client)
    await talk.do('list_workflows')
    await talk.do('list_blocks')
    for (const type of ['api_trigger', 'function', 'condition', 'response']) await talk.do('describe_block', { type })
    const { workflowId, revision } = await talk.do<Saved>('create_workflow', {
      name: 'Price check',
      description: 'Says whether to buy at a price.',
    })
    const built = await talk.do<Saved>('edit_workflow', { workflowId, revision, edits: priceCheck })
    expect(errorsIn(built)).toEqual([])
    expect(await talk.do('check_workflow', { workflowId })).toMatchObject({ isDeployable: true })
    const dear = await talk.do<Run>('run_draft', { workflowId })
    expect(dear).toMatchObject({ status: 'completed', output: { data: { buy: false, total: 150 } } })
    const cheap = await talk.do<Run>('run_draft', { workflowId, input: { price: 40 } })
    expect(cheap.output).toMatchObject({ data: { buy: true, total: 50 } })
    // The tax office is not asked again: its answer is pinned.
    const pinned = await talk.do<Run>('run_draft', { workflowId, pins: { tax: { result: 99 } } })
    expect(pinned.output).toMatchObject({ data: { buy: true, total: 99 } })
    await talk.do('create_test', { workflowId, executionId: cheap.executionId, name: 'Buys at a low price' })
    const tests = [
      {
        name: 'Refuses a high price',
        input: { price: 90 },
        expect: { success: true, output: { data: { buy: false } } },
      },
      { name: 'Wrong', input: { price: 90 }, expect: { path: ['Start', 'Tax', 'Dear', 'Ok'] } },
    ]
    await talk.do('set_tests', { workflowId, tests })
    expect(await talk.do('run_tests', { workflowId })).toMatchObject({ passed: 2, failed: 1 })
    await talk.do('set_tests', { workflowId, remove: ['Wrong'] })
    expect(await talk.do('run_tests', { workflowId })).toMatchObject({ passed: 2, failed: 0 })
    expect(await talk.do('deploy_workflow', { workflowId, name: 'First' })).toMatchObject({ version: 1 })
    expect(await talk.do<object>('price_check', { price: 200 })).toEqual({ buy: false, total: 250 })
    const { runs } = await talk.do<{ runs: Run[] }>('list_runs', { workflowId, limit: 1 })
    expect(await talk.do('get_run', { executionId: runs[0]?.executionId })).toMatchObject({ source: 'mcp', version: 1 })
    const { said, recorded } = talk.compare('Build a workflow of five blocks', recording('build'))
    expect(said).toBe(recorded)
  })

  test('corrects wrong calls by following the texts of their errors', async () => {
    const talk = new Conversation(mcp.client)
    const refused = async (tool: string, given: Record<string, unknown>, hint: string) => {
      const { isError, text } = await talk.call(tool, given)
      expect([isError, text]).toEqual([true, expect.stringContaining(hint)])
    }
    await refused('describe_block', { type: 'http' }, 'The types are api_trigger')
    await talk.do('describe_block', { type: 'api' })
    const { workflowId } = await talk.do<Saved>('create_workflow', { name: 'Greeting' })
    const edit = (...edits: object[]) => ({ workflowId, edits })
    await refused('edit_workflow', edit({ op: 'add', id: 'start' }), '{"op":"add_block","block"')
    await refused(
      'edit_workflow',
      edit({ op: 'add_block', block: { id: 'start', type: 'api_trigger' } }),
      'INVALID_INPUT: edits[0].block.name is missing',
    )
    const start = { id: 'start', type: 'api_trigger', name: 'Start', params: { inputFormat } }
    const greet = { id: 'greet', type: 'function', name: 'Greet', params: { code: 'return "Hello, " + <begin.name>' } }
    await refused(
      'edit_workflow',
      edit({ op: 'add_block', block: start }, { op: 'add_block', block: greet, after: 'begin' }),
      'edits[1]: There is no block with the ID "begin". The IDs are start.',
    )
    const wrong = await talk.do<Saved>(
      'edit_workflow',
      edit({ op: 'add_block', block: start }, { op: 'add_block', block: greet, after: 'start' }),
    )
    expect(errorsIn(wrong)).toMatchObject([{ blockId: 'greet' }])
    await refused('deploy_workflow', { workflowId }, 'blocks.greet.params.code')
    const set = { op: 'set', path: ['blocks', 'greet', 'code'], value: 'return "Hello, " + <start.name>' }
    await refused('edit_workflow', edit(set), 'use the path ["blocks","greet","params","code"]')
    const right = await talk.do<Saved>('edit_workflow', edit({ ...set, path: ['blocks', 'greet', 'params', 'code'] }))
    expect(errorsIn(right)).toEqual([])
    await refused('run_draft', { workflowId, input: { nam: 'Ada' } }, 'The field "name" is required')
    await refused('run_draft', { workflowId, pins: { hello: {} } }, 'There is no block with the ID "hello"')
    const run = await talk.do<Run>('run_draft', { workflowId, input: { name: 'Ada' } })
    expect(run.output).toMatchObject({ result: 'Hello, Ada' })
    const { said, recorded } = talk.compare('Correct wrong calls', recording('correct'))
    expect(said).toBe(recorded)
  })

  test('finds out why a run failed, corrects the workflow and runs it again', async () => {
    const talk = new Conversation(mcp.client)
    const { workflowId } = await talk.do<Saved>('create_workflow', { name: 'Discount', document: discount })
    await talk.do('edit_workflow', { workflowId, edits: [{ op: 'set', path: ['mcp'], value: { expose: true } }] })
    await talk.do('deploy_workflow', { workflowId })
    const failed = await talk.call<{ executionId: string }>('discount', { customer: { name: 'Ada' } })
    expect([failed.isError, failed.text]).toEqual([true, expect.stringContaining('in the block "Rate"')])
    const { failed: listed } = await talk.do<{ failed: { executionId: string }[] }>('list_failed', { workflowId })
    expect(listed).toMatchObject([{ executionId: failed.value.executionId, error: { blockName: 'Rate' } }])
    await talk.do('get_run', { executionId: listed[0]?.executionId })
    await talk.do('get_workflow', { workflowId, blockIds: ['rate'] })
    const path = ['blocks', 'rate', 'params', 'code']
    const saved = await talk.do<Saved>('edit_workflow', {
      workflowId,
      edits: [{ op: 'set', path, value: 'return <start.customer>.orders?.length > 10 ? 0.1 : 0' }],
    })
    expect(errorsIn(saved)).toEqual([])
    const run = await talk.do<Run>('run_draft', { workflowId, input: { customer: { name: 'Ada' } } })
    expect(run).toMatchObject({ status: 'completed', output: { result: 0 } })
    await talk.do('deploy_workflow', { workflowId })
    expect(await talk.do<object>('discount', { customer: { name: 'Ada' } })).toMatchObject({ result: 0 })
    const { said, recorded } = talk.compare('Debug a failed run', recording('debug'))
    expect(said).toBe(recorded)
  })
})

const inputFormat = [{ name: 'name', type: 'string', required: true }]

const priceCheck = [
  {
    op: 'add_block',
    block: {
      ...{ id: 'start', type: 'api_trigger', name: 'Start' },
      params: { inputFormat: [{ name: 'price', type: 'number', required: true, value: 120, description: 'In euros' }] },
    },
  },
  {
    op: 'add_block',
    block: { id: 'tax', type: 'function', name: 'Tax', params: { code: 'return <start.price> * 1.25' } },
    after: 'start',
  },
  {
    op: 'add_block',
    block: {
      ...{ id: 'dear', type: 'condition', name: 'Dear' },
      params: { conditions: [{ id: 'yes', expression: '<tax.result> > 100' }] },
    },
    after: 'tax',
  },
  {
    op: 'add_block',
    block: { id: 'no', type: 'response', name: 'No', params: { data: { buy: false, total: '<tax.result>' } } },
    ...{ after: 'dear', sourceHandle: 'condition-yes' },
  },
  {
    op: 'add_block',
    block: { id: 'ok', type: 'response', name: 'Ok', params: { data: { buy: true, total: '<tax.result>' } } },
    ...{ after: 'dear', sourceHandle: 'condition-else' },
  },
  { op: 'set', path: ['mcp'], value: { expose: true } },
]

const discount = {
  blocks: {
    start: {
      ...{ type: 'api_trigger', name: 'Start' },
      params: { inputFormat: [{ name: 'customer', type: 'object', required: true }] },
    },
    rate: { type: 'function', name: 'Rate', params: { code: 'return <start.customer>.orders.length > 10 ? 0.1 : 0' } },
  },
  edges: [{ source: 'start', target: 'rate' }],
}
