import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import '../../../support/built.ts'
import { type ConnectedMcp, callTool, resultOfTool, startConnected } from '../../../support/mcp-client.ts'

// Errors of the tools, with the official client of the protocol.

let mcp: ConnectedMcp

beforeAll(async () => {
  mcp = await startConnected()
}, 120_000)
afterAll(() => mcp?.[Symbol.asyncDispose]())

type Saved = { workflowId: string }

describe('the building tools', () => {
  test('say in each error how to correct the call', async () => {
    const { workflowId } = await resultOfTool<Saved>(mcp.client, 'create_workflow', { name: 'Errors' })
    const textOf = async (tool: string, given: Record<string, unknown>) => {
      const { isError, content } = await callTool(mcp.client, tool, given)
      return [isError, content[0]!.text]
    }
    const edit = (...edits: object[]) => textOf('edit_workflow', { workflowId, edits })
    expect(await textOf('describe_block', { type: 'http' })).toEqual([true, expect.stringContaining('api_trigger')])
    expect(await edit({ op: 'connect', source: 'a', target: 'b' })).toEqual([
      true,
      expect.stringContaining('edits[0]: There is no block with the ID "a". The IDs are none yet.'),
    ])
    expect(await edit({ op: 'set', path: ['title'], value: 'X' })).toEqual([
      true,
      expect.stringContaining('A workflow has no member "title". It has id, name, description'),
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
    const long = { op: 'set', path: ['description'], value: 'x'.repeat(2_200_000) }
    expect(await edit(long)).toEqual([true, expect.stringMatching(/^PAYLOAD_TOO_LARGE: .*Send smaller edits\.$/)])
    expect(await textOf('get_workflow', {})).toEqual([true, expect.stringContaining('workflowId is missing')])
    expect(await textOf('get_workflow', { workflowId: '../x' })).toEqual([true, expect.stringContaining('NOT_FOUND')])
    await expect(callTool(mcp.client, 'nothing')).rejects.toThrow('There is no tool "nothing"')
  })
})
