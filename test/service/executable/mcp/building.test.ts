import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import '../../../support/built.ts'
import { temporaryFolder } from '../../../support/executable.ts'
import { callTool, connectMcp, resultOfTool } from '../../../support/mcp-client.ts'
import { type Installation, init, type Serving, serve } from '../../../support/running-service.ts'

// A scripted client that knows only the address and a key, and uses the official client of the protocol.

let folder: ReturnType<typeof temporaryFolder>
let installation: Installation
let service: Serving
let client: Client

beforeAll(async () => {
  folder = temporaryFolder()
  installation = await init(folder.path)
  service = await serve(folder.path)
  client = await connectMcp(service.url, installation.apiKey)
}, 120_000)
afterAll(async () => {
  await client?.close()
  await service?.kill('SIGTERM')
  folder?.[Symbol.dispose]()
})

type Finding = { level: string; path: string; message: string; blockId: string | null }
type Saved = { workflowId: string; revision: number; findings: Finding[] }
type Run = {
  executionId: string
  status: string
  version: unknown
  output: Record<string, unknown>
  blocks: { blockId: string; status: string; error?: { message: string } }[]
}

const errorsIn = ({ findings }: { findings: Finding[] }) => findings.filter(({ level }) => level === 'error')

describe('a client that knows only the address and a key', () => {
  test('lists, builds, tests and deploys a workflow of five blocks through tools alone', async () => {
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['list_blocks', 'edit_workflow', 'run_draft']))
    const { blocks } = await resultOfTool<{ blocks: { type: string }[] }>(client, 'list_blocks')
    const types = blocks.map(({ type }) => type)
    expect(types).toEqual(expect.arrayContaining(['api_trigger', 'function', 'condition', 'response']))
    const condition = await resultOfTool<{ sourceHandles: string[]; parameters: object }>(client, 'describe_block', {
      type: 'condition',
    })
    expect(condition.sourceHandles).toEqual([
      'condition-<id of an entry of the parameter "conditions">',
      'condition-else',
    ])
    expect(condition.parameters).toMatchObject({ properties: { conditions: { type: 'array' } } })

    const created = await resultOfTool<Saved>(client, 'create_workflow', { name: 'Price check' })
    const { workflowId } = created
    expect(created.findings.map(({ level }) => level)).toContain('error')

    const inputFormat = [{ name: 'price', type: 'number', required: true, value: 120, description: 'In euros' }]
    const built = await resultOfTool<Saved>(client, 'edit_workflow', {
      workflowId,
      revision: created.revision,
      edits: [
        { op: 'add_block', block: { id: 'start', type: 'api_trigger', name: 'Start', params: { inputFormat } } },
        // A mistake: the block "Begin" does not exist.
        {
          op: 'add_block',
          block: { id: 'tax', type: 'function', name: 'Tax', params: { code: 'return <begin.price> * 1.23' } },
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
          after: 'dear',
          sourceHandle: 'condition-yes',
        },
        {
          op: 'add_block',
          block: { id: 'ok', type: 'response', name: 'Ok', params: { data: { buy: true, total: '<tax.result>' } } },
          after: 'dear',
          sourceHandle: 'condition-else',
        },
      ],
    })
    const [mistake] = errorsIn(built)
    expect(mistake).toMatchObject({ blockId: 'tax', code: 'SYNTAX_ERROR' })
    const refused = await callTool(client, 'deploy_workflow', { workflowId })
    expect([refused.isError, refused.content[0]!.text]).toEqual([
      true,
      expect.stringContaining('blocks.tax.params.code'),
    ])

    const corrected = await resultOfTool<Saved>(client, 'edit_workflow', {
      workflowId,
      edits: [
        { op: 'set', path: ['blocks', 'tax', 'params', 'code'], value: 'return <start.price> * 1.23' },
        { op: 'rename_block', id: 'tax', name: 'With tax' },
        { op: 'set', path: ['mcp'], value: { expose: true, description: 'Says whether to buy at a price.' } },
      ],
    })
    expect(errorsIn(corrected)).toEqual([])
    expect(await resultOfTool(client, 'check_workflow', { workflowId })).toMatchObject({ isDeployable: true })

    const dear = await resultOfTool<Run>(client, 'run_draft', { workflowId })
    expect(dear).toMatchObject({
      status: 'completed',
      version: 'draft',
      output: { data: { buy: false, total: 147.6 } },
    })
    const cheap = await resultOfTool<Run>(client, 'run_draft', { workflowId, input: { price: 10 } })
    expect(cheap.output).toMatchObject({ data: { buy: true, total: 12.3 } })
    expect(cheap.blocks.map(({ blockId, status }) => `${blockId} ${status}`)).toEqual(
      expect.arrayContaining(['start success', 'tax success', 'dear success', 'ok success']),
    )

    expect(await resultOfTool(client, 'deploy_workflow', { workflowId, name: 'First' })).toMatchObject({ version: 1 })
    const called = await callTool(client, 'price_check', { price: 200 })
    expect(called.structuredContent).toEqual({ buy: false, total: 246 })
    const { runs } = await resultOfTool<{ runs: { executionId: string; status: string }[] }>(client, 'list_runs', {
      workflowId,
    })
    expect(runs.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed'])
    expect(await resultOfTool(client, 'get_run', { executionId: runs[0]!.executionId })).toMatchObject({
      source: 'mcp',
      version: 1,
    })
  })

  test('finds the cause of a failure in the trace of the run', async () => {
    const { workflowId } = await resultOfTool<Saved>(client, 'create_workflow', {
      name: 'Breaks',
      document: {
        blocks: {
          start: { type: 'manual_trigger', name: 'Start' },
          boom: { type: 'function', name: 'Boom', params: { code: 'throw new Error("The shop is closed.")' } },
        },
        edges: [{ source: 'start', target: 'boom' }],
      },
    })
    const run = await resultOfTool<Run>(client, 'run_draft', { workflowId })
    expect(run.status).toBe('failed')
    expect(run.blocks.find(({ blockId }) => blockId === 'boom')?.error?.message).toContain('The shop is closed.')
    const { runs } = await resultOfTool<{ runs: { executionId: string }[] }>(client, 'list_runs', { status: 'failed' })
    expect(runs.map(({ executionId }) => executionId)).toEqual([run.executionId])
  })

  test('learns from each error how to correct the call', async () => {
    const { workflowId } = await resultOfTool<Saved>(client, 'create_workflow', { name: 'Errors' })
    const textOf = async (tool: string, given: Record<string, unknown>) => {
      const { isError, content } = await callTool(client, tool, given)
      return [isError, content[0]!.text]
    }
    const edit = (...edits: object[]) => textOf('edit_workflow', { workflowId, edits })
    expect(await textOf('describe_block', { type: 'http' })).toEqual([true, expect.stringContaining('api_trigger')])
    expect(await edit({ op: 'connect', source: 'a', target: 'b' })).toEqual([
      true,
      expect.stringContaining('edits[0]: There is no block with the ID "a". The IDs are none yet.'),
    ])
    expect(await edit({ op: 'change' })).toEqual([true, expect.stringContaining('"op":"add_block"')])
    expect(await edit({ op: 'set', path: ['blocks', 'x', 'name'], value: 'X' })).toEqual([
      true,
      expect.stringContaining('blocks.x is absent'),
    ])
    const stale = await textOf('edit_workflow', {
      workflowId,
      revision: 99,
      edits: [{ op: 'set', path: ['name'], value: 'X' }],
    })
    expect(stale).toEqual([true, expect.stringContaining('Read it again with get_workflow')])
    expect(await textOf('get_workflow', {})).toEqual([true, expect.stringContaining('workflowId is missing')])
    expect(await textOf('get_workflow', { workflowId: '../x' })).toEqual([true, expect.stringContaining('NOT_FOUND')])
    await expect(callTool(client, 'nothing')).rejects.toThrow('There is no tool "nothing"')
  })
})
