import { expect, test } from 'bun:test'
import { block, document } from '../../../support/make.ts'
import { ExecutionWorld } from '../execution-world.ts'

const everySecond = document({ blocks: [block('it', 'schedule', { intervalMs: 1_000 })] })

async function until<Found>(look: () => Promise<Found | undefined>): Promise<Found> {
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    await new Promise((resolve) => setImmediate(resolve))
  }
}

test('a scheduled run counts as an asynchronous run of the owner, until the rate limit of the tier is reached', async () => {
  const flags = { plan: 'free', 'plan-free-async-per-minute': '1', 'plan-free-external-per-minute': '100000' }
  const world = await ExecutionWorld.open(flags)
  const id = await world.deploy(everySecond)
  const entry = await until(async () => {
    const query = `workspaceId=${world.workspaceId}&triggers=schedule&includeFinalOutput=true`
    return (await world.call(`/api/v1/logs?${query}`)).json.data[0]
  })
  expect(entry).toMatchObject({ workflowId: id, level: 'info', trigger: 'schedule' })
  const { dueAt, firedAt } = entry.finalOutput
  expect(Date.parse(dueAt) % 1_000).toBe(0)
  expect(Date.parse(firedAt)).toBeGreaterThanOrEqual(Date.parse(dueAt))
  // The next one exceeds the tier's limit per minute.
  await until(async () => {
    const { text } = await world.call('/metrics')
    return /^millrace_schedule_times_total\{fate="rate"\} [1-9]/m.exec(text) ?? undefined
  })
  expect((await world.call('/metrics')).text).toContain('millrace_schedule_times_total{fate="started"} 1\n')
  expect((await world.call('/metrics')).text).toContain('millrace_schedule_delay_seconds_count 1\n')
  await world.close()
}, 120_000)

test('a schedule without further due times is deployed with a warning', async () => {
  const world = await ExecutionWorld.open()
  const params = { intervalMs: 1_000, endAt: '2020-01-01' }
  const { json } = await world.call('/api/workflows', { body: document({ blocks: [block('it', 'schedule', params)] }) })
  expect(json.findings).toMatchObject([{ level: 'warning', code: 'SCHEDULE_OVER', blockId: 'it' }])
  const deployed = await world.call(`/api/workflows/${json.id}/deploy`, { method: 'POST' })
  expect(deployed.json).toMatchObject({ version: 1, warnings: [{ code: 'SCHEDULE_OVER' }], schedule: { next: [] } })
  await world.close()
})
