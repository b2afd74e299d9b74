import { afterAll, beforeAll, expect, test } from 'bun:test'
import { TestCluster } from '../../support/cluster.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { call, deploy, type Serving } from '../../support/running-service.ts'
import { Receiver } from '../../support/webhook-receiver.ts'

// Two processes on one PostgreSQL. One asynchronous run at a time in each.

const folder = temporaryFolder()
let cluster: TestCluster
let first: Serving
let second: Serving

beforeAll(async () => {
  const settings = { MILLRACE_JOBS_CONCURRENCY: '1', MILLRACE_OUTBOUND_ALLOW: 'loopback' }
  cluster = await TestCluster.create(folder.path, settings)
  ;[first, second] = await Promise.all([cluster.start(), cluster.start()])
}, 60_000)

afterAll(async () => {
  await cluster[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

const through = ({ url }: Serving, path: string, method = 'GET', body?: unknown) =>
  call(url + path, cluster.installation.apiKey, method, body)

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await Bun.sleep(50)
}

const answering = (answer: string) =>
  document({
    name: 'Versions',
    blocks: [block('start', 'api_trigger'), block('end', 'response', { data: { answer } })],
    edges: ['start > end'],
  })

test('a version that is deployed through one process runs in the others', async () => {
  const { apiKey } = cluster.installation
  const path = new URL(await deploy(first.url, apiKey, answering('one'))).pathname
  const answerOf = async (process: Serving) => JSON.stringify((await through(process, path, 'POST', {})).body)
  expect(await answerOf(second)).toContain('one')
  const workflow = path.replace('/execute', '')
  expect((await through(first, workflow, 'PUT', answering('two'))).status).toBe(200)
  expect((await through(first, `${workflow}/deploy`, 'POST')).status).toBe(200)
  expect(await answerOf(first)).toContain('two')
  await until(async () => (await answerOf(second)).includes('two'))
  expect((await through(second, `${workflow}/deploy`, 'DELETE')).status).toBe(204)
  await until(async () => (await through(first, path, 'POST', {})).status !== 200)
}, 30_000)

test('asynchronous runs that wait in one process run in another one that has room', async () => {
  const slow = document({
    name: 'Slow',
    blocks: [block('start', 'api_trigger'), block('wait', 'wait', { ms: 1_500 })],
    edges: ['start > wait'],
  })
  const endpoint = await deploy(first.url, cluster.installation.apiKey, slow)
  const path = new URL(endpoint).pathname
  const headers = { 'x-api-key': cluster.installation.apiKey, 'x-execution-mode': 'async' }
  const accepted = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const response = await fetch(first.url + path, { method: 'POST', headers, body: '{}' })
      expect(response.status).toBe(202)
      return ((await response.json()) as { executionId: string }).executionId
    }),
  )
  const runsIn = async ({ url }: Serving) => {
    const text = await (await fetch(`${url}/metrics`)).text()
    return Number(/^millrace_jobs\{status="processing"\} (\d+)/m.exec(text)?.[1] ?? 0)
  }
  await until(async () => (await runsIn(second)) > 0)
  for (const executionId of accepted) {
    await until(async () => {
      const { body } = await through(second, `/api/jobs/${executionId}`)
      return (body as { status: string }).status === 'completed'
    })
  }
}, 30_000)

test('a subscription that is changed through one process counts for runs in the others', async () => {
  using before = new Receiver()
  using after = new Receiver()
  const options = { includeFinalOutput: false }
  const hooked = (url: string) => ({
    ...document({ name: 'Hooked', blocks: [block('start', 'api_trigger')] }),
    webhooks: [{ id: 'w', url, ...options }],
  })
  const path = new URL(await deploy(first.url, cluster.installation.apiKey, hooked(before.url))).pathname
  await through(second, path, 'POST', {})
  await before.arrivals(1)
  expect((await through(first, path.replace('/execute', ''), 'PUT', hooked(after.url))).status).toBe(200)
  await until(async () => {
    await through(second, path, 'POST', {})
    return after.received.length > 0
  })
}, 30_000)
