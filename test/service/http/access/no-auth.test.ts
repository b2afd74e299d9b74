import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { runCommandLine } from '../../../../src/cli/command-line.ts'
import { createInstallation } from '../../../../src/cli/installation/installation.ts'
import { startTestApp } from '../../../support/app.ts'
import { MemoryTerminal } from '../../../support/cli/memory-terminal.ts'
import { temporaryFolder } from '../../../support/executable.ts'

describe('a service without sign-in', () => {
  let folder: ReturnType<typeof temporaryFolder>
  let app: Awaited<ReturnType<typeof startTestApp>>
  beforeAll(async () => {
    folder = temporaryFolder()
    app = await startTestApp(folder.path, { 'no-auth': 'true' })
    await createInstallation(app.store, Date.now())
  })
  afterAll(async () => {
    await app.stop(0)
    folder[Symbol.dispose]()
  })

  const send = (path: string, headers: Record<string, string> = {}, method = 'GET') => {
    const body = method === 'POST' ? JSON.stringify({ name: crypto.randomUUID(), blocks: {}, edges: [] }) : null
    return fetch(app.address.url + path, { method, headers, body })
  }
  const local = () => new URL(app.address.url).host

  test('treats every visitor on this machine as the owner', async () => {
    for (const host of [local(), `localhost:${app.address.port}`, '[::1]:3000']) {
      const response = await send('/api/editor/me', { host })
      expect([host, response.status]).toEqual([host, 200])
      expect(await response.json()).toMatchObject({ user: { email: 'owner@localhost' }, service: { noAuth: true } })
    }
    const page = { 'sec-fetch-site': 'same-origin', origin: `http://localhost:${app.address.port}` }
    expect((await send('/api/workflows', { ...page, referer: `${page.origin}/workflows` }, 'POST')).status).toBe(201)
  })

  test('refuses callers that use another host name or a proxy', async () => {
    const strange: Record<string, string>[] = [
      { host: 'evil.example' },
      { host: '127.0.0.1.evil.example' },
      { host: local(), 'x-forwarded-for': '203.0.113.9' },
      { host: local(), via: '1.1 proxy' },
      { host: local(), 'x-forwarded-host': 'flows.example.com' },
      { host: 'localhost/evil' },
      { host: 'localhost@evil.example' },
      // Proxies that only pass on the client's address.
      ...['x-real-ip', 'cf-connecting-ip', 'true-client-ip', 'x-forwarded-proto', 'x-forwarded-port'].map((name) => ({
        host: local(),
        [name]: '203.0.113.9',
      })),
      // Proxies that add nothing: the page was opened at another address.
      { host: local(), referer: 'https://flows.example.com/workflows' },
      { host: local(), origin: 'https://flows.example.com', 'sec-fetch-site': 'same-origin' },
      { host: local(), origin: 'null' },
    ]
    for (const headers of strange) {
      for (const path of ['/api/editor/me', '/api/workflows']) {
        const response = await send(path, headers)
        expect([headers, path, response.status]).toEqual([headers, path, 403])
      }
    }
  })

  test('refuses changes from pages of another origin', async () => {
    for (const headers of [{}, { 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }]) {
      expect((await send('/api/workflows', headers as Record<string, string>, 'POST')).status).toBe(403)
    }
  })

  test('still requires a key for the external API', async () => {
    expect((await send('/api/v1/logs?workspaceId=x')).status).toBe(401)
  })
})

test('a service without sign-in that other machines could reach does not start', async () => {
  using folder = temporaryFolder()
  for (const host of ['0.0.0.0', '::', '192.0.2.1', 'example.com']) {
    const terminal = new MemoryTerminal()
    const words = ['serve', '--no-auth', '--host', host, '--data', folder.path, '--port', '0']
    const code = await runCommandLine(words, { terminal, environment: {} })
    expect([code, terminal.words]).toEqual([2, expect.stringContaining(`MILLRACE_NO_AUTH is true`)])
    expect(terminal.words).toContain(host)
  }
})
