import { describe, expect, test } from 'bun:test'
import { fetchCap, fetchCapVariable } from '../../../src/outbound/fetch-cap.ts'
import { hanging, httpPeer, RawPeer, until } from '../../support/outbound/peers.ts'
import type { Job, Told } from './requests-process.ts'

const senders = ['outbound', 'stream', 'webhook'] as const
const script = new URL('./requests-process.ts', import.meta.url).pathname
const certificate = (name: string) => new URL(`../../support/certificates/${name}`, import.meta.url).pathname

async function told(job: Job, environment: Record<string, string>): Promise<Told[]> {
  const child = Bun.spawn([process.execPath, script, JSON.stringify(job)], {
    env: { PATH: process.env['PATH'] ?? '', ...environment },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const text = await new Response(child.stdout).text()
  expect(await child.exited).toBe(0)
  return JSON.parse(text) as Told[]
}

function securePeer() {
  const tls = { cert: Bun.file(certificate('service.pem')), key: Bun.file(certificate('service.key')) }
  return Bun.serve({ port: 0, hostname: '127.0.0.1', tls, fetch: (request) => new Response(new URL(request.url).host) })
}

describe('the environment', () => {
  test.each(senders)('does not send requests through a proxy (%s)', async (sender) => {
    using proxy = await new RawPeer((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nproxied')).listen()
    using peer = httpPeer(() => new Response('direct'))
    const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy']
    const environment = Object.fromEntries(names.map((name) => [name, proxy.url]))
    const urls = [`http://127.0.0.1:${peer.port}/`, `http://x.example:${peer.port}/`, 'https://127.0.0.1:1/']
    const job = { sender, allow: ['loopback'], urls, names: { 'x.example': ['127.0.0.1'] } }
    const outcomes = await told(job, environment)
    expect(outcomes).toMatchObject([{ body: 'direct' }, { body: 'direct' }, { code: 'CONNECTION_FAILED' }])
    expect(proxy.connections).toBe(0)
  })

  test.each(senders)('does not disable certificate checks (%s)', async (sender) => {
    using peer = securePeer()
    const job = {
      sender,
      allow: ['loopback'],
      urls: [`https://127.0.0.1:${peer.port}/`, `https://service.example:${peer.port}/`],
      names: { 'service.example': ['127.0.0.1'] },
    }
    for (const outcome of await told(job, { NODE_TLS_REJECT_UNAUTHORIZED: '0' }))
      expect(outcome).toMatchObject({ code: 'CONNECTION_FAILED', message: expect.stringContaining('certificate') })
  })

  test.each(senders)(
    'may add an authority; certificates are still checked for the requested name (%s)',
    async (sender) => {
      using peer = securePeer()
      const names = { 'service.example': ['127.0.0.1'], 'other.example': ['127.0.0.1'] }
      const hosts = ['service.example', '127.0.0.1', 'other.example', 'localhost']
      const urls = hosts.map((host) => `https://${host}:${peer.port}/`)
      const outcomes = await told(
        { sender, allow: ['loopback'], urls, names },
        { NODE_EXTRA_CA_CERTS: certificate('authority.pem') },
      )
      expect(outcomes).toMatchObject([
        { body: `service.example:${peer.port}` },
        { body: `127.0.0.1:${peer.port}` },
        { code: 'CONNECTION_FAILED', message: expect.stringContaining('The certificate of other.example') },
        { code: 'CONNECTION_FAILED', message: expect.stringContaining('The certificate of localhost') },
      ])
    },
  )

  test.each(['outbound', 'webhook'] as const)(
    'raises the limit of requests in flight: 300 hosts that hang do not delay another one (%s)',
    async (sender) => {
      using dead = await hanging()
      using alive = httpPeer(async () => {
        await until(() => dead.connections === 300)
        return new Response('alive')
      })
      const hung = Array.from({ length: 300 }, (_, index) => `http://dead${index}.localhost:${dead.port}/`)
      const urls = Array.from({ length: 20 }, () => `http://alive.localhost:${alive.port}/`)
      const job = { sender, allow: ['loopback'], urls, hanging: hung, concurrency: { total: 400 } }
      const outcomes = await told(job, { [fetchCapVariable]: fetchCap })
      expect(outcomes.filter((outcome) => 'body' in outcome)).toHaveLength(20)
    },
  )

  test('does not limit how long a server may take to respond', async () => {
    // Bun's own limit for a silent connection is five minutes; here it is one second, which its timer makes eight.
    const thinkingMs = 8_500
    using peer = httpPeer(async () => {
      await Bun.sleep(thinkingMs)
      return new Response('thought')
    })
    const job = { allow: ['loopback'], urls: [`http://127.0.0.1:${peer.port}/`], timeoutMs: 60_000 }
    expect(await told(job, { BUN_CONFIG_HTTP_IDLE_TIMEOUT: '1' })).toMatchObject([{ body: 'thought' }])
  }, 120_000)
})
