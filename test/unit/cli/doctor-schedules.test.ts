import { expect, test } from 'bun:test'
import { examineSchedules } from '../../../src/cli/doctor/schedules.ts'
import { databasePath } from '../../../src/store/sqlite/open.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import { inspectSchedules } from '../../../src/store/sqlite/upkeep/inspect-schedules.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { document } from '../../support/make.ts'
import { install } from '../../support/store/installed.ts'
import { everyMinute } from '../triggers/schedule-world.ts'

const now = Date.UTC(2025, 5, 1, 12)

async function scheduled(folder: string, dueAt: number | null): Promise<void> {
  const store = await openSqliteStore({ directory: folder, sync: 'normal', mode: 'direct' })
  const { workflowId, userId } = await install(store)
  const registrations = { addresses: [], schedule: { rule: everyMinute, dueAt } }
  await store.deploy(workflowId, document({ blocks: [] }), now, userId, registrations)
  await store.close()
}

test.each([
  [now + 60_000, true, 'ok', '1 schedule; the next run is due at 2025-06-01T12:01:00.000Z.'],
  [null, true, 'ok', '1 schedule; no run is due.'],
  [now - 600_000, true, 'warning', '1 schedule; a run has been due since 2025-06-01T11:50:00.000Z.'],
  // Without a service, no run can start.
  [now - 600_000, false, 'ok', '1 schedule; the next run is due at 2025-06-01T11:50:00.000Z.'],
] as const)(
  'doctor reports schedules: due at %p, service runs %p, state %s',
  async (dueAt, isServed, state, message) => {
    using folder = temporaryFolder()
    await scheduled(folder.path, dueAt)
    expect(examineSchedules(inspectSchedules(databasePath(folder.path)), now, isServed)).toMatchObject([
      { check: 'schedules', state, message },
    ])
  },
)

test('doctor reports nothing about schedules if there are none', async () => {
  using folder = temporaryFolder()
  const found = inspectSchedules(databasePath(folder.path))
  expect(examineSchedules(found, now, false)).toEqual([])
})
