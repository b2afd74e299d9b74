import { expect, test } from 'bun:test'
import { temporaryFolder } from '../support/executable.ts'
import { block, document } from '../support/make.ts'
import { call, deploy, init, serve } from '../support/running-service.ts'
import { crashSchedules, everyMs } from './schedule-crash.ts'

test('after repeated kill -9, no due time runs twice, and missed due times follow their policy', async () => {
  const { dueTimes, absences, failed } = await crashSchedules({ kills: 4, random: Math.random })
  expect(failed).toBe(0)
  for (const times of Object.values(dueTimes)) expect(new Set(times).size).toBe(times.length)
  const { all, once, skip } = dueTimes
  // Every due time ran, including those that passed without a service.
  expect(all).toEqual(Array.from({ length: all.length }, (_, index) => all[0]! + index * everyMs))
  for (const { from, to } of absences) {
    const isIn = (time: number) => time > from && time < to
    const passed = all.filter(isIn)
    expect(skip.filter(isIn)).toEqual([])
    expect(once.filter(isIn).length).toBeLessThanOrEqual(1)
    // One run made up for the missed due times: for the last one, or for one that passed during the start.
    if (passed.length > 0) expect(once.some((time) => time >= passed.at(-1)!)).toBe(true)
  }
}, 120_000)

test('a webhook trigger runs each idempotency key once, however often the service is killed', async () => {
  using folder = temporaryFolder()
  const { apiKey, workspaceId } = await init(folder.path)
  let service = await serve(folder.path)
  const params = { path: 'orders', idempotency: { field: 'id' } }
  const draft = document({ blocks: [block('hook', 'webhook_trigger', params), block('f', 'function', { code })] })
  await deploy(service.url, apiKey, { ...draft, edges: [{ id: 'e', source: 'hook', target: 'f' }] })
  const send = async (id: number) => {
    const response = await fetch(`${service.url}/api/webhooks/trigger/orders`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id }),
    })
    return { status: response.status, executionId: ((await response.json()) as { executionId: string }).executionId }
  }
  const accepted = new Map<number, string>()
  for (let round = 0; round < 3; round += 1) {
    const sending = Array.from({ length: 60 }, async (_, index) => {
      const id = index + round * 30
      const { executionId } = await send(id)
      const known = accepted.get(id)
      if (known !== undefined) expect(executionId).toBe(known)
      accepted.set(id, executionId)
    })
    // Kill the service in the middle of the requests.
    await Promise.race(sending)
    await service.kill('SIGKILL')
    await Promise.allSettled(sending)
    service = await serve(folder.path)
    for (const [id, executionId] of accepted) expect(await send(id)).toEqual({ status: 200, executionId })
  }
  expect(accepted.size).toBeGreaterThan(0)
  for (const executionId of accepted.values()) {
    const query = `workspaceId=${workspaceId}&executionId=${executionId}`
    let found: unknown[] = []
    while (found.length === 0) {
      found = ((await call(`${service.url}/api/v1/logs?${query}`, apiKey)).body as { data: unknown[] }).data
    }
    expect(found).toHaveLength(1)
  }
  await service.kill('SIGKILL')
}, 120_000)

const code = 'return <webhook.body.id>'
