import { describe, expect, test } from 'bun:test'
import '../../support/built.ts'
import { call, diagnose, json, type Made, withStore } from '../../support/cli/folder.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { document } from '../../support/make.ts'
import { install } from '../../support/store/installed.ts'
import { postgresAddress } from '../../support/store/test-store.ts'
import { everyMinute } from '../../unit/triggers/schedule-world.ts'
import { reportedWebhooks, withDeliveries } from './deliveries.ts'

describe('doctor', () => {
  test('finds no fault in a new installation', async () => {
    using folder = temporaryFolder()
    await json<Made>(folder.path, 'init')
    const { code, found } = await diagnose(folder.path)
    expect(code).toBe(0)
    const ofFolder = ['settings', 'folder', 'disk', 'service', 'database', 'key', 'clock']
    const ofPostgres = ['settings', 'database', 'processes', 'key', 'clock', 'folder']
    const checks = postgresAddress === undefined ? ofFolder : ofPostgres
    expect(found.map(({ check }) => check)).toEqual(checks)
    expect(found.filter(({ state }) => state !== 'ok')).toEqual([])
  })

  test.each([
    ['--trusted-proxies', 'proxy.example.com'],
    ['--model-prices', 'no-such-file.json'],
  ])('reports an invalid %s, which would prevent the start', async (flag, value) => {
    using folder = temporaryFolder()
    const { code, out } = await call(folder.path, 'doctor', flag, value)
    expect(code).toBe(1)
    expect(out).toContain(value)
    expect(out).toMatch(/^BROKEN {2}settings/m)
  })
})

describe('doctor reports webhook deliveries', () => {
  const now = Date.now()
  const day = 86_400_000

  test('as ok if they are on time', async () => {
    using folder = temporaryFolder()
    await withDeliveries(folder.path, now, { due: [now + 60_000, now - 60_000], failedAt: [now - 2 * day] })
    expect(await reportedWebhooks(folder.path)).toEqual([
      ['ok', '1 webhook subscription; 2 deliveries pending, none failed in a day.'],
    ])
  })

  test('without an attempt as due since the end of their runs', async () => {
    using folder = temporaryFolder()
    const late = now - 600_000
    await withDeliveries(folder.path, now, { due: [now], untried: [now, late, now] })
    const message = `7 deliveries pending; the oldest has been due since ${new Date(late).toISOString()}.`
    expect(await reportedWebhooks(folder.path)).toEqual([['warning', message]])
  })

  test('with a separate warning for each problem', async () => {
    using folder = temporaryFolder()
    const late = now - 600_000
    await withDeliveries(folder.path, now, { due: [now, late], failedAt: [now - 2 * day, now - 1_000], secret: [] })
    expect(await reportedWebhooks(folder.path)).toEqual([
      ['warning', 'Webhook subscriptions without their secret: 1 of 1. They send no deliveries.'],
      ['warning', `2 deliveries pending; the oldest has been due since ${new Date(late).toISOString()}.`],
      ['warning', '1 delivery of the last day failed permanently.'],
    ])
  })
})

test('doctor reports schedules', async () => {
  using folder = temporaryFolder()
  const dueAt = Date.now() + 60_000
  await withStore(folder.path, async (store) => {
    const { workflowId, userId } = await install(store)
    const registrations = { addresses: [], schedule: { rule: everyMinute, dueAt } }
    await store.deploy(workflowId, document({ blocks: [] }), 1, userId, registrations)
  })
  expect((await diagnose(folder.path)).of('schedules')).toEqual({
    ...{ check: 'schedules', state: 'ok' },
    message: `1 schedule; the next run is due at ${new Date(dueAt).toISOString()}.`,
  })
})
