import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { logIdOf, newId, sequenceOf } from '../../../../src/domain/ids.ts'
import type { LogRow } from '../../../../src/domain/run/log.ts'
import type { LogPosition } from '../../../../src/store/log-query.ts'
import type { RetentionStep, Store } from '../../../../src/store/store.ts'
import { appendLogs } from '../append-logs.ts'
import { type Installed, logRow } from '../installed.ts'
import { entriesOf, listForm, logQuery, statusOf } from '../log-model.ts'
import { rejectionOf } from '../rejection.ts'

/** The contract of every implementation of the port for log entries, in the current store of `world`. */
export function logContract(world: () => { store: Store; home: Installed }): void {
  describe('log entries', () => {
    test('come back as they were recorded, by sequence and by execution', async () => {
      const { store, home } = world()
      await fc.assert(
        fc.asyncProperty(fc.array(anyRow, { minLength: 1, maxLength: 40 }), async (drafts) => {
          const last = await store.lastSequence()
          const rows = drafts.map((draft, index) =>
            logRow(home, last + 1 + index * 3, { ...draft, executionId: newId() }),
          )
          await appendLogs(store, rows)
          expect(await store.lastSequence()).toBe(rows.at(-1)!.sequence)
          const workflow = { id: home.workflowId, name: 'Test workflow', description: null }
          for (const row of rows) {
            const { models: _, rawOutput: __, cancelled: ___, failure: ____, ...kept } = { ...row, files: null }
            const { versionName, labels } = {
              versionName: null,
              labels: row.labels ? JSON.stringify(row.labels) : null,
            }
            const notes = { versionName, labels, status: statusOf(row) }
            const rest = {
              ...kept,
              ...notes,
              partial: row.partial ?? false,
              source: row.source ?? null,
              pausedMs: row.pausedMs ?? null,
            }
            expect(await store.getLog(row.sequence)).toEqual({ ...rest, workflow })
            expect(await store.getExecution(row.executionId)).toEqual({ ...rest, workflow })
          }
          expect(await store.getLog(rows[0]!.sequence + 1)).toBeUndefined()
        }),
        { numRuns: 15 },
      )
    })

    test('may have execution ids of any form', async () => {
      const { store, home } = world()
      const ids = ['x', 'ABCDEF00-0000-0000-0000-000000000000', 'abcdef00-0000-0000-0000-000000000000', 'ff', 'é🙂']
      await appendLogs(
        store,
        ids.map((executionId, index) => logRow(home, index + 1, { executionId })),
      )
      for (const id of ids) expect((await store.getExecution(id))?.executionId).toBe(id)
      expect(await store.getExecution('none')).toBeUndefined()
    })

    test('may be larger than anything else in the file', async () => {
      const { store, home } = world()
      const traceSpans = JSON.stringify([{ output: 'ü'.repeat(3_000_000) }])
      const finalOutput = JSON.stringify(crypto.getRandomValues(new Uint8Array(600_000)).toBase64())
      const rows = [logRow(home, 1), logRow(home, 2, { traceSpans, finalOutput }), logRow(home, 3)]
      await appendLogs(store, rows)
      expect(await store.getLog(2)).toMatchObject({ traceSpans, finalOutput })
      expect(await store.getLog(3)).toMatchObject({ finalOutput: rows[2]!.finalOutput })
    })

    test('are paged in both orders, within their workspace', async () => {
      const { store, home } = world()
      const rows = Array.from({ length: 25 }, (_, index) => logRow(home, 100 + index * 7))
      for (const row of rows) await appendLogs(store, [row])
      for (const order of ['asc', 'desc'] as const) {
        const seen: unknown[] = []
        for (let after: LogPosition | undefined; ; ) {
          const page = await store.queryLogs(logQuery(home.workspaceId, { limit: 10, order, after }))
          seen.push(...entriesOf(page))
          if (page.end === 'last') break
          if (page.count === 0) throw new Error('An empty page reports that there are more entries')
          after = page.position!
        }
        expect(seen).toEqual((order === 'asc' ? rows : rows.toReversed()).map(listForm))
      }
      const nowhere = { entries: '', count: 0, files: [], position: null, end: 'last' } as const
      expect(await store.queryLogs(logQuery('nowhere'))).toEqual(nowhere)
    })

    test('of a group are recorded all or none', async () => {
      const { store, home } = world()
      await appendLogs(store, [logRow(home, 1)])
      const bad: Partial<LogRow>[] = [
        { workflowId: 'nothing' },
        { workspaceId: 'nowhere' },
        { startedAt: 1.5 },
        { durationMs: Number.NaN },
        { sequence: 1 },
      ]
      for (const fault of bad) {
        const rows = [logRow(home, 10), logRow(home, 11, fault), logRow(home, 12)]
        expect(await rejectionOf(appendLogs(store, rows))).toBeInstanceOf(Error)
        expect(await store.lastSequence()).toBe(1)
        expect(await store.queryLogs(logQuery(home.workspaceId))).toMatchObject({ count: 1 })
      }
    })

    test('are unique for each run', async () => {
      const { store, home } = world()
      await appendLogs(store, [logRow(home, 1, { executionId: 'taken' })])
      // The error reaches the caller, or the operator if the store finds out later.
      await appendLogs(store, [logRow(home, 2), logRow(home, 3, { executionId: 'taken' })]).catch(() => undefined)
      await appendLogs(store, [logRow(home, 4)])
      const entries = entriesOf(await store.queryLogs(logQuery(home.workspaceId)))
      expect(entries.filter(({ executionId }) => executionId === 'taken')).toHaveLength(1)
      expect(entries.at(-1)).toMatchObject({ id: logIdOf(4) })
    })

    test('show the files of their runs, and name them after retention until they are deleted', async () => {
      const { store, home } = world()
      const file = { url: 'http://files/a', name: 'a', size: 3, type: 'text/plain' }
      const stored = JSON.stringify([{ key: 'w/f/e2/1/a', file }])
      const elsewhere = JSON.stringify([{ key: null, file }])
      await appendLogs(store, [
        logRow(home, 1),
        logRow(home, 2, { files: { text: stored, folder: 'w/f/e2' } }),
        logRow(home, 3, { files: { text: elsewhere, folder: null } }),
      ])
      expect((await store.getLog(1))?.files).toBeNull()
      expect((await store.getLog(2))?.files).toBe(stored)
      const page = await store.queryLogs(logQuery(home.workspaceId))
      expect(page.files.toSorted()).toEqual([stored, elsewhere].toSorted())
      expect(JSON.parse(`[${page.entries}]`).map((entry: { files: unknown }) => entry.files)).toEqual([
        null,
        [file],
        [file],
      ])
      expect(await store.listGoneFiles(10)).toEqual([])
      while (!(await store.retain({ before: 100, bytesMax: 2 ** 40, workMs: 0 })).done);
      expect(await store.listGoneFiles(10)).toEqual(['w/f/e2'])
      await store.forgetGoneFiles(['w/f/e2'])
      expect(await store.listGoneFiles(10)).toEqual([])
    })

    test('stay after their workflow was deleted, and its last runs are recorded', async () => {
      const { store, home } = world()
      await appendLogs(store, [logRow(home, 1)])
      await store.deleteWorkflow(home.workflowId, 20)
      await appendLogs(store, [logRow(home, 2)])
      expect(await store.queryLogs(logQuery(home.workspaceId))).toMatchObject({ count: 2 })
      expect((await store.getLog(2))?.workflow.name).toBe('Test workflow')
    })

    test('are deleted oldest first when they are too old or too many, and paging continues', async () => {
      const { store, home } = world()
      for (let sequence = 1; sequence <= 40; sequence += 1) {
        await appendLogs(store, [logRow(home, sequence)])
        // One entry per group, because retention deletes the entries of a small chunk together.
        expect(await store.getLog(sequence)).toBeDefined()
      }
      const list = async (after: number) => {
        const page = await store.queryLogs(logQuery(home.workspaceId, { limit: 5, after: [after] }))
        return entriesOf(page).map(({ id }) => sequenceOf(id))
      }
      expect(await list(10)).toEqual([11, 12, 13, 14, 15])
      const bytesMax = Number.MAX_SAFE_INTEGER
      let step: RetentionStep
      do {
        step = await store.retain({ before: 21, bytesMax, workMs: 1 })
        expect(step.heldMs).toBeGreaterThan(0)
        expect(step.usedBytes).toBeGreaterThan(4_096)
      } while (!step.done)
      expect(await list(15)).toEqual([21, 22, 23, 24, 25])
      expect(await store.retain({ before: 21, bytesMax, workMs: 1 })).toMatchObject({ entries: 0, done: true })
      while (!(await store.retain({ before: 0, bytesMax: 1, workMs: 1 })).done) {}
      expect(await list(0)).toEqual([])
      expect(await store.lastSequence()).toBe(40)
      await appendLogs(store, [logRow(home, 41)])
      expect(await list(25)).toEqual([41])
    })

    test('add their cost to the month of the account', async () => {
      const { store, home } = world()
      const june = Date.UTC(2025, 5, 1)
      const july = Date.UTC(2025, 6, 1)
      const at = (endedAt: number, costTotal: number) => ({ endedAt, costTotal, cost: '{}' })
      await appendLogs(store, [logRow(home, 1, at(july - 1, 0.25)), logRow(home, 2, at(july, 1))])
      await appendLogs(store, [logRow(home, 3, at(july - 1, 0.5)), logRow(home, 4)])
      expect(await store.getUsage(home.userId, june)).toBe(0.75)
      expect(await store.getUsage(home.userId, july)).toBe(1)
      expect(await store.getUsage('nobody', july)).toBe(0)
      await appendLogs(store, [logRow(home, 5, { ...at(july, 9), trigger: 'manual' })])
      expect(await store.getUsage(home.userId, july)).toBe(1)
    })
  })
}

const json = fc.oneof(
  fc.json(),
  fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
  fc.integer({ min: 0, max: 60_000 }).map((length) => JSON.stringify('x'.repeat(length))),
)

const anyRow: fc.Arbitrary<Partial<LogRow>> = fc.record({
  version: fc.integer({ min: 1 }),
  level: fc.constantFrom('info', 'error'),
  trigger: fc.constantFrom('api', 'webhook', 'schedule', 'manual', 'chat'),
  createdAt: fc.option(fc.integer({ min: 0, max: 4_000_000_000_000 }), { nil: null }),
  startedAt: fc.integer({ min: 0, max: 4_000_000_000_000 }),
  endedAt: fc.integer({ min: 0, max: 4_000_000_000_000 }),
  durationMs: fc.double({ min: 0, max: 1e10, noNaN: true }).map(Math.abs),
  pausedMs: fc.maxSafeNat(),
  costTotal: fc.double({ min: 0, max: 1000, noNaN: true }).map(Math.abs),
  models: fc.uniqueArray(fc.string({ unit: 'binary' }), { maxLength: 3 }),
  cost: fc.option(json, { nil: null }),
  finalOutput: json,
  traceSpans: json,
})
