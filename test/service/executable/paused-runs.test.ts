import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { millrace, temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { deploy, init, type Serving, serve } from '../../support/running-service.ts'
import { postgresServer } from '../../support/store/postgres-server.ts'

const server = postgresServer()
const key = { MILLRACE_SECRET_KEY: 'the-key-of-paused-runs-that-go-elsewhere' }
const onSqlite = { ...key, MILLRACE_STORE: 'sqlite' }

type Paused = { apiKey: string; asking: string; waiting: string; link: string }

/** Creates two paused runs in a folder: an approval, and a wait of some seconds. */
async function pauseRuns(data: string): Promise<Paused> {
  const { apiKey, workspaceId } = await init(data, onSqlite)
  const service = await serve(data, { ...onSqlite, MILLRACE_PAUSE_IN_MEMORY_MS: '0' })
  const start = block('start', 'api_trigger', {})
  const run = async (name: string, pause: ReturnType<typeof block>) => {
    const end = block('end', 'response', { data: { approved: '<pause.approved>' } })
    const url = await deploy(
      service.url,
      apiKey,
      document({ name, blocks: [start, pause, end], edges: ['start > pause', 'pause > end'] }),
    )
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'x-execution-mode': 'async' },
      body: '{}',
    })
    const { executionId } = (await response.json()) as { executionId: string }
    await statusOf(service, apiKey, executionId, 'paused')
    return executionId
  }
  const asking = await run('Ask', block('pause', 'approval', { title: 'Go on?' }))
  const waiting = await run('Wait', block('pause', 'wait', { ms: 3_000 }))
  const pauses = `${service.url}/api/workspaces/${workspaceId}/pauses`
  const get = async (url: string) => (await fetch(url, { headers: { 'x-api-key': apiKey } })).json()
  const { data: listed } = (await get(pauses)) as { data: { contextId: string; executionId: string }[] }
  const { contextId } = listed.find(({ executionId }) => executionId === asking)!
  const { callbackUrl } = (await get(`${pauses}/${contextId}`)) as { callbackUrl: string }
  expect(await service.kill('SIGTERM')).toBe(0)
  return { apiKey, asking, waiting, link: new URL(callbackUrl).pathname }
}

/** Checks that the runs continue elsewhere: the wait at its time, the approval with an answer to its earlier link. */
async function expectToContinue(service: Serving, { apiKey, asking, waiting, link }: Paused): Promise<void> {
  await statusOf(service, apiKey, waiting, 'completed')
  await statusOf(service, apiKey, asking, 'paused')
  const answered = await fetch(service.url + link, { method: 'POST', body: '{"approved":true}' })
  expect([answered.status, await answered.json()]).toEqual([200, { success: true, outcome: 'resumed' }])
  const { output } = await statusOf(service, apiKey, asking, 'completed')
  expect(output).toMatchObject({ data: { approved: true } })
  expect(await service.kill('SIGTERM')).toBe(0)
}

type JobStatus = { status: string; output?: unknown }

async function statusOf({ url }: Serving, apiKey: string, executionId: string, wanted: string): Promise<JobStatus> {
  for (;;) {
    const job = (await (
      await fetch(`${url}/api/jobs/${executionId}`, { headers: { 'x-api-key': apiKey } })
    ).json()) as JobStatus
    if (job.status === wanted) return job
    await Bun.sleep(20)
  }
}

test('paused runs continue in a restored backup', async () => {
  using folder = temporaryFolder()
  const [data, file, restored] = ['data', 'backup.tar', 'restored'].map((name) => join(folder.path, name))
  const paused = await pauseRuns(data!)
  const environment = onSqlite
  expect((await millrace(['backup', file!, '--data', data!], { environment })).code).toBe(0)
  expect((await millrace(['restore', file!, '--data', restored!], { environment })).code).toBe(0)
  await expectToContinue(await serve(restored!, onSqlite), paused)
}, 60_000)

test('paused runs continue after a move from SQLite to PostgreSQL', async () => {
  using folder = temporaryFolder()
  const [data, there] = ['data', 'there'].map((name) => join(folder.path, name))
  const paused = await pauseRuns(data!)
  const url = await server().createDatabase()
  const moved = await millrace(['move', '--from', data!, '--to', url, '--json'], { environment: key })
  expect([moved.code, JSON.parse(moved.out)]).toMatchObject([0, { ok: true, tables: { jobs: 2, pauses: 2 } }])
  await expectToContinue(await serve(there!, { ...key, MILLRACE_STORE: url }), paused)
}, 90_000)
