import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { logWrite } from '../../../src/domain/run/write.ts'
import type { LogPosition } from '../../../src/store/log-query.ts'
import { parseAddress } from '../../../src/store/postgres/address.ts'
import { Database } from '../../../src/store/postgres/connection.ts'
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts'
import { append } from '../../../src/store/postgres/writes/append.ts'
import { ManualClock } from '../../support/clock.ts'
import { appendLogs } from '../../support/store/append-logs.ts'
import { install, logRow } from '../../support/store/installed.ts'
import { logQuery } from '../../support/store/log-model.ts'
import { postgresServer } from '../../support/store/postgres-server.ts'
import { queryPostgres } from '../../support/store/postgres-store.ts'

const server = postgresServer()

/** The groups of one writer: how many entries each has, and how many pages are read before it commits. */
const anyWriter = fc.array(fc.record({ entries: fc.nat({ max: 3 }), readsBefore: fc.nat({ max: 6 }) }), {
  minLength: 1,
  maxLength: 5,
})

test('a reader that follows the log sees every entry once, while writers commit out of order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyWriter, { minLength: 2, maxLength: 4 }),
      fc.nat({ max: 4 }),
      async (writers, extra) => {
        const url = await server().createDatabase()
        const store = await openPostgresStore({ url })
        const database = new Database({ address: parseAddress(url), connectionsMax: writers.length })
        try {
          const home = await install(store)
          const seen: number[] = []
          let reads = 0
          let position: LogPosition | undefined
          const readPage = async () => {
            const page = await store.queryLogs(
              logQuery(home.workspaceId, { order: 'asc', limit: 1 + ((reads + extra) % 3), after: position }),
            )
            position = page.position ?? position
            const entries = JSON.parse(`[${page.entries}]`) as { executionId: string }[]
            seen.push(...entries.map(({ executionId }) => Number(executionId)))
            reads += 1
            return page.count
          }
          let sequence = 0
          let written = 0
          const write = async (groups: (typeof writers)[number]) => {
            for (const { entries, readsBefore } of groups) {
              const rows = Array.from({ length: entries + 1 }, () => {
                sequence += 1
                return logWrite({ ...logRow(home, sequence), executionId: String(sequence) })
              })
              if (readsBefore === 0) await store.append(rows)
              else {
                await database.write(async (sql) => {
                  await append(sql, rows)
                  // The transaction stays open while others commit and pages are read.
                  const until = reads + readsBefore
                  while (reads < until) await Bun.sleep(1)
                })
              }
              written += rows.length
            }
          }
          let isWriting = true
          const writing = Promise.all(writers.map(write)).finally(() => {
            isWriting = false
          })
          while (isWriting) await readPage()
          await writing
          while ((await readPage()) > 0);
          expect(seen.toSorted((one, other) => one - other)).toEqual(Array.from({ length: written }, (_, n) => n + 1))
        } finally {
          await database.close()
          await store.close()
        }
      },
    ),
    { numRuns: 15 },
  )
}, 120_000)

test('a reader continues after its cursor when a dump was restored on a server with lower transaction IDs', async () => {
  const url = await server().createDatabase()
  const before = await openPostgresStore({ url })
  const home = await install(before)
  await appendLogs(before, [logRow(home, 1), logRow(home, 2)])
  await before.close()
  // As if the server of the dump had a billion transactions more. Its reader has seen both entries.
  await queryPostgres(url, 'UPDATE millrace.logs SET commit_order = commit_order + 1000000000')
  const [{ last } = { last: '' }] = await queryPostgres<{ last: string }>(
    url,
    'SELECT max(commit_order)::text AS last FROM millrace.logs',
  )
  const serves = { version: '1', url: 'http://127.0.0.1:1', usesFolder: false, clock: new ManualClock(Date.now()) }
  const restored = await openPostgresStore({ url, serves })
  await appendLogs(restored, [logRow(home, 3)])
  const following = { order: 'asc', after: [Number(last), 2] } as const
  expect((await restored.queryLogs(logQuery(home.workspaceId, following))).count).toBe(1)
  expect((await restored.queryLogs(logQuery(home.workspaceId, { order: 'asc' }))).count).toBe(3)
  await restored.close()
})
