import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { programPath } from '../../support/programs.ts'
import { deploy, init, type Serving, serve } from '../../support/running-service.ts'

let folder: ReturnType<typeof temporaryFolder>
let service: Serving
let apiKey: string
let endpoint: string
let firstSeen = Promise.withResolvers<void>()

/** Responds only after the first chunk has arrived. */
const upstream = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: () => firstSeen.promise.then(() => Response.json({ part: 'second' })),
})

beforeAll(async () => {
  folder = temporaryFolder()
  apiKey = (await init(folder.path)).apiKey
  service = await serve(folder.path, { MILLRACE_OUTBOUND_ALLOW: 'loopback' })
  endpoint = await deploy(
    service.url,
    apiKey,
    document({
      name: 'Two parts',
      blocks: [
        block('start', 'api_trigger'),
        block('f', 'function', { code: 'return "first"' }),
        block('ask', 'api', { url: `http://127.0.0.1:${upstream.port}/` }),
      ],
      edges: ['start > f', 'f > ask'],
    }),
  )
})
afterAll(async () => {
  await service.kill('SIGTERM')
  await upstream.stop(true)
  folder[Symbol.dispose]()
})

const expected = [
  ': open',
  'data: {"blockId":"f","chunk":"first"}',
  'data: {"blockId":"ask","chunk":"second"}',
  expect.stringMatching(/^data: \{"event":"done","success":true,.*"duration":/),
  'data: [DONE]',
]

/** Reads a stream with `curl -N`. The upstream responds only after the first chunk has arrived. */
async function readWithCurl(url: string, options: readonly string[] = []): Promise<string[]> {
  firstSeen = Promise.withResolvers()
  const body = JSON.stringify({ stream: true, selectedOutputs: ['f.result', 'ask.data.part'] })
  const curl = Bun.spawn([programPath('curl'), '-sSN', '-H', `X-API-Key: ${apiKey}`, '-d', body, ...options, url], {
    stderr: 'inherit',
  })
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of curl.stdout) {
    text += decoder.decode(chunk, { stream: true })
    if (text.includes('first')) firstSeen.resolve()
  }
  expect(await curl.exited).toBe(0)
  return text.split('\n').filter((line) => line !== '')
}

test('curl -N shows each chunk when it is sent', async () => {
  expect(await readWithCurl(endpoint)).toEqual(expected)
})

test('a stream passes nginx with default settings without delay', async () => {
  using proxy = await startNginx(new URL(service.url).port)
  expect(await readWithCurl(endpoint, ['--unix-socket', proxy.socket])).toEqual(expected)
})

/** Starts nginx with Debian's settings in front of the service, on a socket in its own folder. */
async function startNginx(port: string) {
  const own = temporaryFolder()
  const unix = join(own.path, 'socket')
  const file = join(own.path, 'nginx.conf')
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(own.path, name)};`,
  )
  writeFileSync(
    file,
    `daemon off; pid ${join(own.path, 'pid')}; error_log stderr; events {}
     http { access_log off; gzip on; ${places.join(' ')}
       server { listen unix:${unix}; location / { proxy_pass http://127.0.0.1:${port}; } } }`,
  )
  const nginx = Bun.spawn([programPath('nginx'), '-c', file], { stdout: 'ignore', stderr: 'ignore' })
  while ((await fetch('http://localhost/health/live', { unix }).catch(() => undefined))?.status !== 200) {
    if (nginx.exitCode !== null) throw new Error(`nginx ended with ${nginx.exitCode}`)
    await Bun.sleep(5)
  }
  return {
    socket: unix,
    [Symbol.dispose]: () => {
      nginx.kill()
      own[Symbol.dispose]()
    },
  }
}
