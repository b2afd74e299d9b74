import { expect, test } from 'bun:test'
import { Gate } from '../../../support/gate.ts'
import { block, document } from '../../../support/make.ts'
import { ExecutionWorld, start } from '../execution-world.ts'

const asynchronous = { headers: { 'x-execution-mode': 'async' } }

test('the limits apply to waiting runs after a restart, and all of these runs end', async () => {
  const gate = new Gate()
  const world = await ExecutionWorld.open({ 'outbound-allow': 'loopback' })
  const draft = document({
    blocks: [start(), block('ask', 'api', { url: `${gate.url}/restart` })],
    edges: ['start > ask'],
    limits: { concurrency: 2 },
  })
  const id = await world.deploy(draft)
  const ids: string[] = []
  for (let count = 0; count < 8; count += 1) ids.push((await world.execute(id, {}, asynchronous)).json.executionId)
  await gate.arrivals(2)
  await world.restart()
  // The two runs that were in progress will repeat their requests.
  await gate.arrivals(4)
  expect((await world.call(`/api/workflows/${id}/status`)).json.starts.running).toBe(2)
  for (let count = 4; count < 10; count += 2) {
    gate.answerAll()
    await gate.arrivals(count + 2)
    expect(gate.held).toBe(2)
  }
  gate.answerAll()
  for (const each of ids) {
    while ((await world.call(`/api/jobs/${each}`)).json.status !== 'completed') await Bun.sleep(10)
  }
  await world.close()
  await gate.stop()
}, 30_000)

test('a debounced run begins after a restart, with the last input', async () => {
  const world = await ExecutionWorld.open()
  const draft = document({
    blocks: [start(), block('f', 'function', { code: 'return <api.input>' })],
    edges: ['start > f'],
    limits: { debounce: { quietMs: 600_000 } },
  })
  const id = await world.deploy(draft)
  const first = await world.execute(id, { n: 1 })
  await world.execute(id, { n: 2 })
  await world.restart()
  for (;;) {
    const { json } = await world.call(`/api/jobs/${first.json.executionId}`)
    if (json.status === 'completed') {
      expect(json.output.result).toEqual({ n: 2 })
      break
    }
    await Bun.sleep(10)
  }
  await world.close()
}, 30_000)

test('callers that wait when the service stops get 503, and their runs do not start', async () => {
  const gate = new Gate()
  const world = await ExecutionWorld.open({ 'outbound-allow': 'loopback' })
  const draft = document({
    blocks: [start(), block('ask', 'api', { url: `${gate.url}/stop` })],
    edges: ['start > ask'],
    limits: { concurrency: 1 },
  })
  const id = await world.deploy(draft)
  const first = world.execute(id, {}).catch(() => undefined)
  await gate.arrivals(1)
  const second = world.execute(id, {})
  while ((await world.call(`/api/workflows/${id}/status`)).json.starts.waiting === 0) await Bun.sleep(5)
  await world.restart()
  expect(await second).toMatchObject({ status: 503, json: { code: 'OVERLOADED' } })
  await first
  expect(gate.arrived).toHaveLength(1)
  gate.answerAll()
  await world.close()
  await gate.stop()
}, 30_000)
