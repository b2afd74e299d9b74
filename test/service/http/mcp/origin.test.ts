import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { HttpWorld } from '../world.ts'

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }

describe('the MCP server', () => {
  let world: HttpWorld
  let host: string
  beforeAll(async () => {
    world = await HttpWorld.open()
    host = new URL(world.url).host
  })
  afterAll(() => world.close())

  const send = async (headers: Record<string, string>, path = '/mcp') =>
    await world.call('POST', path, { body: ping, headers })

  test.each(['/mcp', '/mcp/<workspace>'])('refuses requests from pages of other origins at %s', async (template) => {
    const path = template.replace('<workspace>', world.workspaceId)
    const port = new URL(world.url).port
    const foreign: Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: '' },
      { origin: `http://localhost:${Number(port) + 1}` },
      { origin: `https://${host}.evil.example` },
      { origin: `ftp://${host}` },
      // DNS rebinding: the name of the page leads to this service.
      { origin: `http://evil.example:${port}`, host: `evil.example:${port}` },
      { origin: `http://127.0.0.1.evil.example:${port}`, host: `127.0.0.1.evil.example:${port}` },
    ]
    for (const headers of foreign) {
      const { status, json } = await send(headers, path)
      expect([headers, status, json.code]).toEqual([headers, 403, 'FORBIDDEN'])
      expect(json.error).toContain(`The header Origin is "${headers['origin']}"`)
    }
  })

  test('refuses a foreign origin before it looks at the key', async () => {
    const { status, headers } = await world.call('POST', '/mcp', {
      ...{ key: null, body: ping, headers: { origin: 'https://evil.example' } },
    })
    expect([status, headers.get('www-authenticate')]).toEqual([403, null])
  })

  test('accepts requests without an origin, and from its own addresses', async () => {
    const port = new URL(world.url).port
    const own: Record<string, string>[] = [
      {},
      { origin: new URL(world.url).origin },
      { origin: `http://localhost:${port}`, host: `localhost:${port}` },
      { origin: `http://[::1]:${port}`, host: `[::1]:${port}` },
      { origin: `http://192.0.2.7:${port}`, host: `192.0.2.7:${port}` },
    ]
    for (const headers of own) expect([headers, (await send(headers)).status]).toEqual([headers, 200])
  })
})
