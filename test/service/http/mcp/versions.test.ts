import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { HttpWorld } from '../world.ts'

describe('the MCP server', () => {
  let world: HttpWorld
  beforeAll(async () => {
    world = await HttpWorld.open()
  })
  afterAll(() => world.close())

  const send = async (body: unknown, headers: Record<string, string> = {}) =>
    await world.call('POST', '/mcp', { body, headers })

  // Clients of each version send this.
  const initialize = (protocolVersion: unknown) => ({
    ...{ jsonrpc: '2.0', id: 0, method: 'initialize' },
    params: {
      protocolVersion,
      capabilities: { roots: { listChanged: true } },
      clientInfo: { name: 'x', version: '1' },
    },
  })

  test.each([
    ['2025-11-25', '2025-11-25'],
    ['2025-06-18', '2025-06-18'],
    ['2025-03-26', '2024-11-05'],
    ['2024-11-05', '2024-11-05'],
    ['2024-10-07', '2025-11-25'],
    ['2030-01-01', '2025-11-25'],
    [undefined, '2025-11-25'],
  ])('agrees with a client that asks for the version %p on %p', async (asked, agreed) => {
    const { json } = await send(initialize(asked))
    expect(json.result.protocolVersion).toBe(agreed)
    const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' }
    expect((await send(initialized, { 'mcp-protocol-version': agreed })).status).toBe(202)
  })

  test('refuses batches, and the version that requires them', async () => {
    const batch = [
      { jsonrpc: '2.0', id: 1, method: 'ping' },
      { jsonrpc: '2.0', id: 2, method: 'tools/list' },
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
    ]
    const refused = await send(batch)
    expect([refused.status, refused.json.error]).toEqual([
      400,
      'Send one JSON-RPC message in each request. Batches are not supported.',
    ])
    const { status, json } = await send(batch[0], { 'mcp-protocol-version': '2025-03-26' })
    expect([status, json.error]).toEqual([
      400,
      'MCP-Protocol-Version is "2025-03-26". This server knows 2025-11-25, 2025-06-18, 2024-11-05.',
    ])
  })

  test('takes messages without a version, as clients of the first versions send them', async () => {
    expect((await send({ jsonrpc: '2.0', id: 1, method: 'ping' })).json).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
  })
})
