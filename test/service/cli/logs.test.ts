import { afterAll, beforeAll, expect, test } from 'bun:test'
import '../../support/built.ts'
import { cleanEnvironment, executable, millrace, temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { deploy, init, type Serving, serve } from '../../support/running-service.ts'

const data = temporaryFolder()
let service: Serving
let environment: Record<string, string>
let endpoint: string
let apiKey: string

beforeAll(async () => {
  apiKey = (await init(data.path)).apiKey
  service = await serve(data.path)
  environment = { MILLRACE_URL: service.url, MILLRACE_API_KEY: apiKey }
  endpoint = await deploy(
    service.url,
    apiKey,
    document({
      name: 'Odd or fail',
      blocks: [
        block('start', 'api_trigger', { inputFormat: [{ name: 'n', type: 'number' }] }),
        block('f', 'function', { code: 'if (<api.n> % 2 === 0) throw new Error("even"); return <api.n>' }),
      ],
      edges: ['start > f'],
    }),
  )
  for (let n = 1; n <= 5; n += 1) await execute(n)
})
afterAll(async () => {
  await service.kill('SIGTERM')
  data[Symbol.dispose]()
})

async function execute(n: number): Promise<string> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { 'x-api-key': apiKey },
    body: JSON.stringify({ n }),
  })
  return ((await response.json()) as { executionId: string }).executionId
}

const lines = (text: string) => text.split('\n').filter((line) => line !== '')

test('logs prints the latest entries in order, as text or as JSON lines', async () => {
  const people = await millrace(['logs', '--limit', '3'], { environment })
  expect(people.code).toBe(0)
  expect(lines(people.out).map((line) => /\s(ok|error)\s/.exec(line)?.[1])).toEqual(['ok', 'error', 'ok'])
  expect(people.out).toContain('Odd or fail')

  const machine = await millrace(
    ['logs', '--json', '--output', '--level', 'info', '--workflow', 'Odd or fail', '--trigger', 'api'],
    { environment },
  )
  const entries = lines(machine.out).map((line) => JSON.parse(line) as { id: string; finalOutput: { result: number } })
  expect(entries.map(({ finalOutput }) => finalOutput.result)).toEqual([1, 3, 5])
  expect(entries.map(({ id }) => id)).toEqual(entries.map(({ id }) => id).toSorted())
})

test('logs reports invalid arguments', async () => {
  expect((await millrace(['logs', '--limit', 'many'], { environment })).code).toBe(2)
  const refused = await millrace(['logs', '--level', 'odd'], { environment })
  expect(refused).toMatchObject({ code: 1, out: '' })
  expect(refused.words).toContain('level')
})

test('logs --follow prints each new entry once', async () => {
  const follower = Bun.spawn([executable(), 'logs', '--follow', '--json', '--limit', '1'], {
    env: cleanEnvironment(environment),
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const seen: string[] = []
  const wanted: string[] = []
  let text = ''
  for await (const chunk of follower.stdout) {
    text += new TextDecoder().decode(chunk)
    seen.splice(0, seen.length, ...lines(text).map((line) => (JSON.parse(line) as { executionId: string }).executionId))
    if (wanted.length === 0) for (const n of [6, 7, 8]) wanted.push(await execute(n))
    if (seen.length >= 4) break
  }
  follower.kill()
  await follower.exited
  expect(seen.slice(1)).toEqual(wanted)
})

test('logs --follow waits when the service asks it to, or is unavailable', async () => {
  const statuses: (number | 'down')[] = [200, 200, 429, 503, 'down']
  let asked = 0
  const front = () =>
    Bun.serve({
      hostname: '127.0.0.1',
      port,
      async fetch(request) {
        const { pathname, search } = new URL(request.url)
        const planned = pathname === '/api/v1/logs' ? (statuses[asked++] ?? 200) : 200
        if (planned === 'down') queueMicrotask(() => server.stop(true).then(() => (server = front())))
        if (planned === 200) return await fetch(service.url + pathname + search, { headers: request.headers })
        const status = planned === 429 ? 429 : 503
        return Response.json({ error: 'Not now.', code: 'BUSY' }, { status, headers: { 'retry-after': '1' } })
      },
    })
  let port = 0
  let server = front()
  port = server.port!
  const follower = Bun.spawn([executable(), 'logs', '--follow', '--json', '--limit', '1'], {
    env: cleanEnvironment({ ...environment, MILLRACE_URL: `http://127.0.0.1:${port}` }),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  let wanted: string | undefined
  let text = ''
  for await (const chunk of follower.stdout) {
    text += new TextDecoder().decode(chunk)
    while (asked < statuses.length) await Bun.sleep(5)
    wanted ??= await execute(9)
    if (text.includes(wanted)) break
  }
  follower.kill()
  await follower.exited
  await server.stop(true)
  expect(lines(text)).toHaveLength(2)
  expect(await new Response(follower.stderr).text()).toContain('Trying again.')
}, 120_000)
