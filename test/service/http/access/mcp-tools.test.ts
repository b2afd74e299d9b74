import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { newId } from '../../../../src/domain/ids.ts'
import { AccessWorld, type KeyKind, keyKinds, type Things } from './access-world.ts'
import { type ToolRow, toolTable } from './mcp-tools.ts'

const kinds = Object.keys(keyKinds) as KeyKind[]
type Outcome = 'done' | `${number}` | 'FORBIDDEN' | 'NOT_FOUND'

describe('the MCP server', () => {
  let world: AccessWorld
  beforeAll(async () => {
    world = await AccessWorld.open()
  })
  beforeEach(() => world.letAMinutePass())
  afterAll(() => world.close())

  for (const row of toolTable) {
    test(`${row.tool} allows every kind of key exactly what the table says, and changes nothing for others`, async () => {
      const found: Partial<Record<KeyKind, Outcome>> = {}
      const things = await world.things()
      const refused = kinds.filter((kind) => expected(row, kind) !== 'done')
      const before = await stateOf(things)
      for (const kind of refused) found[kind] = await use(row, kind, things)
      expect(await stateOf(things)).toEqual(before)
      for (const kind of kinds.filter((each) => !refused.includes(each))) found[kind] = await use(row, kind, things)
      expect(found).toEqual(Object.fromEntries(kinds.map((kind) => [kind, expected(row, kind)])))
    })
  }

  test('lists to each role the tools that it may use', async () => {
    const { workspace } = await world.things()
    const namesFor = async (kind: KeyKind) => {
      const { result } = JSON.parse((await send(workspace, kind, 'tools/list', {})).text)
      return (result.tools as { name: string }[]).map(({ name }) => name).toSorted()
    }
    const all = toolTable.map(({ tool }) => tool).toSorted()
    const readable = toolTable.filter(({ needs }) => needs === 'read').map(({ tool }) => tool)
    expect(await namesFor("an editor's, personal")).toEqual(all)
    expect(await namesFor("the owner's, of the workspace")).toEqual(all)
    expect(await namesFor("a viewer's, personal")).toEqual(readable.toSorted())
  })

  test('tells a viewer nothing about workflows that are tools', async () => {
    const { workspace } = await world.things()
    const { text } = await send(workspace, "a viewer's, personal", 'tools/call', { name: 'find_order', arguments: {} })
    expect(JSON.parse(text).result.structuredContent).toMatchObject({
      code: 'FORBIDDEN',
      error: 'The tool "find_order" needs the role of an editor in this workspace. You are a viewer.',
    })
  })

  test('finds nothing of a workspace that the address does not name, although the key reaches it', async () => {
    const things = await world.things()
    const key = world.keys["the owner's, personal"]
    const { data } = JSON.parse((await world.call('GET', '/api/workspaces', key)).text)
    const other = (data as { id: string }[]).find(({ id }) => id !== things.workspace)!.id
    const named = toolTable.filter(({ given }) => 'workflowId' in given || 'executionId' in given)
    const outcomes: Record<string, Outcome> = {}
    for (const row of named.filter(({ tool }) => !tool.startsWith('list_'))) {
      outcomes[row.tool] = await use(row, "the owner's, personal", { ...things, workspace: other })
    }
    expect(new Set(Object.values(outcomes))).toEqual(new Set(['NOT_FOUND']))
  })

  test('asks for the address of a workspace when the key reaches several', async () => {
    const { text, status } = await world.call('POST', '/mcp', world.keys["the owner's, personal"], ping)
    expect([status, JSON.parse(text).error]).toEqual([
      400,
      'This key reaches several workspaces. Use the address /mcp/<workspace ID> of one of them.',
    ])
    expect((await world.call('POST', '/mcp', world.keys["the owner's, of the workspace"], ping)).status).toBe(200)
  })

  const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })

  async function send(workspace: string, kind: KeyKind, method: string, params: object) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    return await world.call('POST', `/mcp/${workspace}`, await world.credential(kind), body)
  }

  async function use({ tool, given }: ToolRow, kind: KeyKind, things: Things): Promise<Outcome> {
    const filled = Object.entries(things).reduce(
      (text, [name, id]) => text.replaceAll(`<${name}>`, id),
      JSON.stringify(given).replace('<name>', newId()),
    )
    const params = { name: tool, arguments: JSON.parse(filled) }
    const { status, text } = await send(things.workspace, kind, 'tools/call', params)
    if (status !== 200) return `${status}`
    const { result } = JSON.parse(text)
    return result.isError ? result.structuredContent.code : 'done'
  }

  async function stateOf({ workspace, workflow }: Things) {
    const { store } = world.app
    return {
      workflow: await store.getWorkflow(workflow),
      deployments: await store.listDeployments(workflow),
      tests: (await world.app.store.getTests(workflow))?.revision,
      names: (await store.listWorkflows(workspace)).map(({ document }) => document.name),
      last: await store.lastSequence(),
    }
  }
})

function expected({ needs }: ToolRow, kind: KeyKind): Outcome {
  switch (keyKinds[kind]) {
    case 'invalid':
      return '401'
    case 'foreign':
      return '404'
    case 'viewer':
      return needs === 'read' ? 'done' : 'FORBIDDEN'
    default:
      return 'done'
  }
}
