import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { LogRow } from '../../../../src/domain/run/log.ts'
import type { WorkflowOverview } from '../../../../src/store/dashboard-store.ts'
import { ZoneMapMaker, zoneRows } from '../../../../src/store/sqlite/logs/zone-maps.ts'
import { databasePath, openConnection } from '../../../../src/store/sqlite/open.ts'
import { openSqliteStore } from '../../../../src/store/sqlite/sqlite-store.ts'
import { temporaryFolder } from '../../../support/executable.ts'
import { document } from '../../../support/make.ts'
import { appendLogs } from '../../../support/store/append-logs.ts'
import { install, logRow } from '../../../support/store/installed.ts'

const hourMs = 3_600_000
const now = Date.UTC(2025, 5, 2, 12, 34)

/** The overview computed from the rows themselves. */
function countedFrom(rows: readonly LogRow[], workflowId: string, hours: number) {
  const own = rows.filter((row) => row.workflowId === workflowId)
  const first = Math.floor(now / hourMs) - hours + 1
  const count = (some: readonly LogRow[]) =>
    Array.from({ length: hours }, (_, index) => {
      return some.filter(({ startedAt }) => Math.floor(startedAt / hourMs) === first + index).length
    })
  return {
    runs: count(own),
    errors: count(own.filter(({ level }) => level === 'error')),
    last: own.at(-1)?.executionId ?? null,
  }
}

const shown = ({ runs, errors, lastRun }: WorkflowOverview) => ({ runs, errors, last: lastRun?.executionId ?? null })

test('an overview counts every run of the last hours once, whether it is in a zone map or not', async () => {
  const run = fc.record({
    workflow: fc.nat(2),
    minutesAgo: fc.integer({ min: -10, max: 60 * 60 }),
    failed: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(run, { maxLength: 60 }), fc.integer({ min: 0, max: 2 }), async (runs, zones) => {
      using folder = temporaryFolder()
      const store = await openSqliteStore({ directory: folder.path, sync: 'normal', mode: 'direct' })
      try {
        const home = await install(store)
        const others = await Promise.all(
          ['A', 'B'].map((name) => {
            const draft = document({ name, blocks: [] })
            return store.createWorkflow({ id: null, workspaceId: home.workspaceId, document: draft, at: 1 })
          }),
        )
        const ids = [home.workflowId, ...others.map(({ id }) => id)]
        // Enough rows for the requested number of zone maps, and some more.
        const all = Array.from({ length: zones * zoneRows }, (_, n) => runs[n % runs.length]).concat(runs)
        const rows = all.flatMap((each, n) => {
          if (!each) return []
          const startedAt = now - each.minutesAgo * 60_000
          const facts = { startedAt, level: each.failed ? 'error' : 'info' } as const
          return [logRow({ ...home, workflowId: ids[each.workflow]! }, n + 1, facts)]
        })
        if (rows.length > 0) await appendLogs(store, rows)
        const connection = openConnection({ path: databasePath(folder.path), sync: 'normal' })
        const maker = new ZoneMapMaker()
        for (let n = 0; n < zones; n += 1) connection.write(() => maker.step(connection, home.workspaceId))
        connection.close()
        const overviews = await store.listWorkflowOverviews(home.workspaceId, now, 24)
        expect(overviews.map(({ id }) => id).sort()).toEqual(ids.toSorted())
        for (const overview of overviews) expect(shown(overview)).toEqual(countedFrom(rows, overview.id, 24))
      } finally {
        await store.close()
      }
    }),
    { numRuns: 15 },
  )
})
