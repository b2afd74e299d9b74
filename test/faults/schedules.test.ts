import { expect, test } from 'bun:test'
import { temporaryFolder } from '../support/executable.ts'
import { block, document } from '../support/make.ts'
import { call, deploy, init, serve } from '../support/running-service.ts'
import { crashSchedules, everyMs } from './schedule-crash.ts'

test('schedules of the executable that is killed again and again run no time twice, and missed ones as they say', async () => {
  const { dueTimes, absences, failed } = await crashSchedules({ kills: 4, random: Math.random })
  expect(failed).toBe(0)
  for (const times of Object.values(dueTimes)) expect(new Set(times).size).toBe(times.length)
  const { all, once, skip } = dueTimes
  // All of them ran, those too that passed while nobody was there.
  expect(all).toEqual(Array.from({ length: all.length }, (_, index) => all[0]! + index * everyMs))
  for (const { from, to } of absences) {
    const isIn = (time: number) => time > from && time < to
    const passed = all.filter(isIn)
    expect(skip.filter(isIn)).toEqual([])
    expect(once.filter(isIn).length).toBeLessThanOrEqual(1)
    // The last one before it was there again ran: of those that passed, or of the time that starting took.
    if (passed.length > 0) expect(once.some((time) => time >= passed.at(-1)!)).toBe(true)
  }
}, 120_000)

test('requests that name themselves are taken once by the executable, however often it is killed', async () => {
  using folder = temporaryFolder()
  const { apiKey, workspaceId } = await init(folder.path)
  let service = await serve(folder.path)
  const params = { path: 'orders', idempotency: { field: 'id' } }
  const draft = document({ blocks: [block('hook', 'webhook_trigger', params), block('f', 'function', { code })] })
  await deploy(service.url, apiKey, { ...draft, edges: [{ id: 'e', source: 'hook', target: 'f' }] })
  const send = async (id: number) => {
    const answer = await fetch(`${service.url}/api/webhooks/trigger/orders`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id }),
    })
    return { status: answer.status, executionId: ((await answer.json()) as { executionId: string }).executionId }
  }
  const taken = new Map<number, string>()
  for (let round = 0; round < 3; round += 1) {
    const sending = Array.from({ length: 60 }, async (_, index) => {
      const id = index + round * 30
      const { executionId } = await send(id)
      const known = taken.get(id)
      if (known !== undefined) expect(executionId).toBe(known)
      taken.set(id, executionId)
    })
    // In the middle of them.
    await Promise.race(sending)
    await service.kill('SIGKILL')
    await Promise.allSettled(sending)
    service = await serve(folder.path)
    for (const [id, executionId] of taken) expect(await send(id)).toEqual({ status: 200, executionId })
  }
  expect(taken.size).toBeGreaterThan(0)
  for (const executionId of taken.values()) {
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
