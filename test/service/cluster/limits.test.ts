import { expect, test } from 'bun:test'
import { TestCluster } from '../../support/cluster.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { Gate } from '../../support/gate.ts'
import { block, document } from '../../support/make.ts'
import { call, deploy, type Serving } from '../../support/running-service.ts'

test('processes share the limits of a workflow, even after one of them was killed', async () => {
  using folder = temporaryFolder()
  const gate = new Gate()
  await using cluster = await TestCluster.create(folder.path, { MILLRACE_OUTBOUND_ALLOW: 'loopback' })
  const { apiKey } = cluster.installation
  const [one, two] = [await cluster.start(), await cluster.start()]
  const deployed = async (limits: object, path: string) => {
    const draft = document({
      blocks: [block('start', 'api_trigger'), block('ask', 'api', { url: `${gate.url}/${path}`, retries: 0 })],
      edges: ['start > ask'],
    })
    return new URL(await deploy(one.url, apiKey, { ...draft, name: path, limits })).pathname
  }
  const execute = (at: Serving, path: string, body: object = {}) => call(`${at.url}${path}`, apiKey, 'POST', body)

  const refusing = await deployed({ concurrency: 1, beyond: 'refuse' }, 'refusing')
  const first = execute(one, refusing)
  await gate.arrivalsAt('/refusing', 1)
  expect(await execute(two, refusing)).toMatchObject({ status: 429, body: { code: 'WORKFLOW_LIMIT' } })
  gate.answerAll()
  expect((await first).status).toBe(200)

  const replacing = await deployed({ concurrency: 1, beyond: 'replace' }, 'replacing')
  const older = execute(one, replacing)
  await gate.arrivalsAt('/replacing', 1)
  const newer = execute(two, replacing)
  expect(await older).toMatchObject({ status: 500, body: { error: 'The run was cancelled.' } })
  await gate.arrivalsAt('/replacing', 2)
  gate.answerAll()
  expect((await newer).status).toBe(200)

  const debounced = await deployed({ debounce: { quietMs: 1_500 } }, 'debounced')
  const answers = [await execute(one, debounced), await execute(two, debounced), await execute(one, debounced)]
  const ids = answers.map(({ body }) => (body as { executionId: string }).executionId)
  expect([answers.map(({ status }) => status), new Set(ids).size]).toEqual([[202, 202, 202], 1])
  await gate.arrivalsAt('/debounced', 1)
  gate.answerAll()

  const queueing = await deployed({ concurrency: 1 }, 'queueing')
  const lost = execute(one, queueing).catch(() => undefined)
  await gate.arrivalsAt('/queueing', 1)
  const waiting = execute(two, queueing)
  await cluster.kill(one)
  await lost
  // The slot of the killed process is free when the other process has taken over its work.
  await gate.arrivalsAt('/queueing', 2)
  gate.answerAll()
  expect((await waiting).status).toBe(200)
  expect(gate.arrived.filter((path) => path === '/debounced')).toHaveLength(1)
  await gate.stop()
}, 150_000)
