import { afterEach, beforeEach, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import '../../support/built.ts'
import { cleanEnvironment, executable, millrace, temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { call, deploy, type Installation, init, type Serving, serve } from '../../support/running-service.ts'
import { appendLogs } from '../../support/store/append-logs.ts'
import { install, logRow } from '../../support/store/installed.ts'
import { withStore } from '../../support/store/moving.ts'
import { postgresServer } from '../../support/store/postgres-server.ts'
import { queryPostgres } from '../../support/store/postgres-store.ts'
import { Receiver } from '../../support/webhook-receiver.ts'

const server = postgresServer()

let folder: ReturnType<typeof temporaryFolder>
let service: Serving | undefined
beforeEach(() => {
  folder = temporaryFolder()
})
afterEach(async () => {
  await service?.kill('SIGKILL')
  folder[Symbol.dispose]()
})

const stopped = async () => {
  await service?.kill('SIGTERM')
  service = undefined
}
const started = async (data: string, more: Record<string, string>) => {
  const environment = { MILLRACE_OUTBOUND_ALLOW: 'loopback', MILLRACE_STOP_GRACE_MS: '100', ...more }
  service = await serve(data, environment)
  return service
}

const asks = (url: string) =>
  document({
    name: 'Asks',
    blocks: [
      block('start', 'api_trigger'),
      block('ask', 'api', {
        method: 'GET',
        url,
        headers: [{ key: 'x-secret', value: '{{SECRET}}' }],
        timeoutMs: 60_000,
      }),
      block('end', 'function', { code: 'return "answered"' }),
    ],
    edges: ['start > ask', 'ask > end'],
  })
const notifies = (url: string) => ({
  ...document({ name: 'Notifies', blocks: [block('start', 'api_trigger')] }),
  webhooks: [{ url, secret: 'whsec' }],
})

test('a service continues on PostgreSQL, and then on SQLite again, where it stopped', async () => {
  const [data, back] = [join(folder.path, 'data'), join(folder.path, 'back')]
  const { apiKey, workspaceId }: Installation = await init(data)
  await millrace(['env', 'set', 'SECRET', 'a secret value', '--data', data])
  let isOpen = false
  // Until it is open, it never responds.
  const respond = () => (isOpen ? new Response('{}') : new Promise<Response>(() => undefined))
  using receiver = new Receiver(respond)
  using asked = new Receiver(respond)

  const first = await started(data, {})
  const execute = await deploy(first.url, apiKey, asks(asked.url))
  const notifying = await deploy(first.url, apiKey, notifies(receiver.url))
  const accepted = await fetch(execute, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'x-execution-mode': 'async' },
  })
  const { taskId } = (await accepted.json()) as { taskId: string }
  await asked.arrivals(1)
  for (const _ of [1, 2, 3]) expect((await call(notifying, apiKey, 'POST', {})).status).toBe(200)
  await receiver.arrivals(1)
  const { entries, cursor } = await readLog(first, apiKey, workspaceId, 2)
  expect(entries).toHaveLength(2)
  const url = await server().createDatabase()
  const early = await millrace(['move', '--from', data, '--to', url])
  expect(early).toMatchObject({ code: 1, words: expect.stringContaining(`A service runs on ${data}`) })
  await stopped()

  const withoutKey = await millrace(['move', '--from', data, '--to', url])
  expect(withoutKey).toMatchObject({ code: 1, words: expect.stringContaining('MILLRACE_SECRET_KEY is not set') })
  const key = readFileSync(join(data, 'millrace.key'), 'utf8').trim()
  const environment = { MILLRACE_SECRET_KEY: key }
  const moved = await millrace(['move', '--from', data, '--to', url, '--json'], { environment })
  expect({ ...moved, words: '' }).toMatchObject({ code: 0 })
  expect(JSON.parse(moved.out)).toMatchObject({ ok: true, tables: { logs: 3, jobs: 1, subscriptions: 1, keys: 1 } })

  isOpen = true
  // It has another data folder, without the key file.
  const second = await started(join(folder.path, 'second'), { ...environment, MILLRACE_STORE: url })
  const onSecond = (path: string) => second.url + new URL(path).pathname
  expect((await asked.arrivals(2))[1]!.headers.get('x-secret')).toBe('a secret value')
  expect(await jobOf(second, apiKey, taskId)).toMatchObject({ status: 'completed', output: { result: 'answered' } })
  // Those that were in flight arrive again.
  while (new Set(receiver.keys).size < 3) await receiver.arrivals(receiver.received.length + 1)
  expect((await call(onSecond(notifying), apiKey, 'POST', {})).status).toBe(200)
  const rest = await readLog(second, apiKey, workspaceId, 10, cursor)
  expect(rest.entries).toHaveLength(3)
  expect((await readLog(second, apiKey, workspaceId, 10)).entries.slice(0, 2)).toEqual(entries)
  const tooEarly = await millrace(['move', '--from', url, '--to', back, '--json'], { environment })
  expect(tooEarly).toMatchObject({ code: 1, words: expect.stringContaining(`process ${second.pid} on `) })
  await stopped()

  const again = await millrace(['move', '--from', url, '--to', back, '--json'], { environment })
  expect(JSON.parse(again.out)).toMatchObject({ ok: true, tables: { logs: 5, jobs: 0 } })
  const third = await started(back, environment)
  expect((await call(third.url + new URL(notifying).pathname, apiKey, 'POST', {})).status).toBe(200)
  expect((await call(third.url + new URL(execute).pathname, apiKey, 'POST', {})).status).toBe(200)
  const all = await readLog(third, apiKey, workspaceId, 10)
  expect(all.entries.slice(0, 5)).toEqual([...entries, ...rest.entries])
  expect(all.entries).toHaveLength(7)
}, 120_000)

async function readLog({ url }: Serving, apiKey: string, workspaceId: string, limit: number, cursor?: string) {
  const query = new URLSearchParams({ workspaceId, order: 'asc', limit: String(limit), ...(cursor && { cursor }) })
  const { status, body } = await call(`${url}/api/v1/logs?${query}`, apiKey)
  expect(status).toBe(200)
  const page = body as { data: { id: string }[]; nextCursor: string }
  return { entries: page.data.map(({ id }) => id), cursor: page.nextCursor }
}

async function jobOf({ url }: Serving, apiKey: string, id: string): Promise<unknown> {
  for (;;) {
    const { body } = await call(`${url}/api/jobs/${id}`, apiKey)
    const job = body as { status: string }
    if (job.status !== 'queued' && job.status !== 'processing') return job
    await Bun.sleep(20)
  }
}

test('a move that is killed leaves a target on which no service starts, and the next call completes it', async () => {
  const entries = 20_000
  const home = await withStore(folder.path, async (store) => {
    const made = await install(store)
    for (let from = 1; from <= entries; from += 2_000) {
      await appendLogs(
        store,
        Array.from({ length: 2_000 }, (_, index) => logRow(made, from + index)),
      )
    }
    return made
  })
  const url = await server().createDatabase()
  const environment = { MILLRACE_SECRET_KEY: 'the-secret-key-of-this-test-has-40-chars' }
  const moving = Bun.spawn([executable(), 'move', '--from', folder.path, '--to', url], {
    env: cleanEnvironment(environment),
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  while (!(await isCopying(url)) && moving.exitCode === null) await Bun.sleep(1)
  moving.kill('SIGKILL')
  await moving.exited
  const start = await millrace(['serve', '--port', '0', '--store', url], { environment })
  expect(start).toMatchObject({ code: 1, words: expect.stringContaining('unfinished move') })
  const diagnosis = await millrace(['doctor', '--json', '--store', url], { environment })
  expect(diagnosis.out).toContain('unfinished move')
  const next = await millrace(['move', '--from', folder.path, '--to', url, '--json'], { environment })
  expect(next.words).toContain('The move continues.')
  expect(JSON.parse(next.out)).toMatchObject({ ok: true, tables: { logs: entries, users: 1 } })
  expect(await withStore(url, (store) => store.findUser(home.userId))).toMatchObject({ id: home.userId })
}, 120_000)

/** Whether some entries of the log are in the target, and the move is not complete. */
async function isCopying(url: string): Promise<boolean> {
  const select = "SELECT value FROM millrace.unfinished_move WHERE name = 'rows of logs'"
  const rows = await queryPostgres<{ value: string }>(url, select).catch(() => [])
  return rows.length > 0
}

test('a move between data folders takes the key and the files along', async () => {
  const [data, other] = [join(folder.path, 'data'), join(folder.path, 'other')]
  const { apiKey } = await init(data)
  await millrace(['env', 'set', 'SECRET', 'a secret value', '--data', data])
  const file = join('files', 'w', 'f', 'run', 'a.txt')
  await Bun.write(join(data, file), 'content')
  writeFileSync(join(data, 'files', '.partial'), 'an upload in progress')
  const moved = await millrace(['move', '--from', data, '--to', other])
  expect(moved).toMatchObject({ code: 0, words: expect.stringContaining('1 file of runs copied') })
  expect(readFileSync(join(other, file), 'utf8')).toBe('content')
  expect(readFileSync(join(other, 'millrace.key'))).toEqual(readFileSync(join(data, 'millrace.key')))
  const { url } = await started(other, {})
  expect((await call(`${url}/api/workflows`, apiKey)).status).toBe(200)
}, 60_000)
