import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { LogSequence, newExecutionId } from '../../../../src/domain/ids.ts'
import { LogWriter } from '../../../../src/events/writer.ts'
import { readCursor } from '../../../../src/http/requests/cursor.ts'
import { readLogRequest, scopeOf } from '../../../../src/http/requests/log-query.ts'
import { respondWithPage } from '../../../../src/http/responses/log-page.ts'
import { openSqliteStore } from '../../../../src/store/sqlite/sqlite-store.ts'
import type { Store } from '../../../../src/store/store.ts'
import { ManualClock } from '../../../support/clock.ts'
import { runRecord } from '../../../support/events/run-record.ts'
import { temporaryFolder } from '../../../support/executable.ts'
import { block, document } from '../../../support/make.ts'
import { install } from '../../../support/store/installed.ts'
import { ExecutionWorld, start } from '../execution-world.ts'

type Entry = { executionId: string; id: string }
type Page = { data: Entry[]; nextCursor: string | null }

/** Follows the log as the documentation tells clients to, and records the entries. */
class Poller {
  readonly met: Entry[] = []
  readonly #ask: (cursor: string) => Promise<Page>
  #cursor = ''

  constructor(ask: (cursor: string) => Promise<Page>) {
    this.#ask = ask
  }

  /** Reads one page. Returns true when it had entries. */
  async poll(): Promise<boolean> {
    const { data, nextCursor } = await this.#ask(this.#cursor === '' ? '' : `&cursor=${this.#cursor}`)
    this.met.push(...data)
    // Without a new cursor, it continues with the previous one.
    this.#cursor = nextCursor ?? this.#cursor
    return data.length > 0
  }

  expectExactly(executionIds: readonly string[]): void {
    const met = this.met.map(({ executionId }) => executionId)
    expect(new Set(met).size).toBe(met.length)
    expect(met.toSorted()).toEqual([...executionIds].sort())
    const ids = this.met.map(({ id }) => id)
    expect(ids).toEqual(ids.toSorted())
  }
}

/** The page that the API returns for a query string. */
async function pageOf(store: Store, query: string): Promise<Page> {
  const request = readLogRequest(`/api/v1/logs?${query}`)
  const after = request.cursor === undefined ? undefined : readCursor(request.cursor, scopeOf(request))
  if (request.cursor !== undefined && after === undefined) throw new Error('The cursor was refused')
  const rest = { showFailures: false, limits: '{}', freshenFiles: (text: string) => text }
  const page = await respondWithPage({ store, request, after, ...rest })
  return (
    'text' in page ? JSON.parse(page.text) : await new Response(page.parts as unknown as ReadableStream).json()
  ) as Page
}

const slots = 50
const startMs = Date.UTC(2025, 5, 1)

describe('a poller during runs of very different lengths', () => {
  // The next action: time passes, pollers read, or the system clock is set back or forward.
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ passMs: fc.integer({ min: 0, max: 400 }) }) },
    { weight: 4, arbitrary: fc.record({ poller: fc.nat(3) }) },
    { weight: 2, arbitrary: fc.record({ clockMs: fc.integer({ min: -60_000, max: 30_000 }) }) },
    // All ended runs are on disk, and the poller has received all of them.
    { weight: 3, arbitrary: fc.constant('settle' as const) },
  )
  const length = fc.oneof(
    { weight: 5, arbitrary: fc.integer({ min: 0, max: 3 }) },
    { weight: 3, arbitrary: fc.integer({ min: 4, max: 100 }) },
    { weight: 1, arbitrary: fc.integer({ min: 101, max: 60_000 }) },
  )

  test('receives each entry exactly once, in order, whatever the clock does', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(length, { minLength: slots, maxLength: 250 }),
        fc.array(step, { minLength: 5, maxLength: 60 }),
        fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 4, maxLength: 4 }),
        async (lengths, steps, limits) => {
          using folder = temporaryFolder()
          const store = await openSqliteStore({ directory: folder.path, sync: 'normal', mode: 'workers' })
          const { workspaceId, workflowId } = await install(store)
          const clock = new ManualClock(startMs)
          const sequence = new LogSequence(() => clock.now())
          const writer = new LogWriter({ store, clock, sequence, rowsWaitingMax: 1_000, onHealth: () => undefined })

          // 50 at once; each slot starts its next run when its previous one has ended.
          const recorded: { executionId: string; failed: boolean }[] = []
          const writing: Promise<unknown>[] = []
          const left = [...lengths]
          const startNext = () => {
            const ms = left.pop()
            if (ms === undefined) return
            const executionId = newExecutionId()
            const startedAt = clock.now()
            clock.setTimer(ms, () => {
              const failed = ms % 7 === 0
              const failure = failed
                ? ({ code: 'CANCELLED', message: '', blockId: null, blockName: null } as const)
                : null
              const times = { startedAt, endedAt: clock.now(), durationMs: ms }
              writing.push(writer.append(runRecord({ executionId, workflowId, workspaceId, failure, ...times })))
              recorded.push({ executionId, failed })
              startNext()
            })
          }
          for (let slot = 0; slot < slots; slot += 1) startNext()

          const since = new Date(startMs - 10_000_000).toISOString()
          const pollers = ['', '&level=error', '&minDurationMs=1000000', '&details=full&includeTraceSpans=1'].map(
            (filter, index) =>
              new Poller((cursor) =>
                pageOf(
                  store,
                  `workspaceId=${workspaceId}&order=asc&startDate=${since}&limit=${limits[index]}${filter}${cursor}`,
                ),
              ),
          )
          for (const each of steps) {
            if (each === 'settle') {
              await Promise.all(writing)
              for (const poller of pollers) while (await poller.poll()) {}
            } else if ('passMs' in each) clock.advance(each.passMs)
            else if ('clockMs' in each) clock.setNow(clock.now() + each.clockMs)
            else await pollers[each.poller]!.poll()
          }
          while (clock.pending > 0) {
            clock.advance(clock.nextInMs ?? 0)
            for (const poller of pollers) if (clock.pending % 5 === 0) await poller.poll()
          }
          await Promise.all(writing)
          for (const poller of pollers) while (await poller.poll()) {}

          const [all, failed, none, whole] = pollers as [Poller, Poller, Poller, Poller]
          const ids = recorded.map(({ executionId }) => executionId)
          expect(ids).toHaveLength(lengths.length)
          all.expectExactly(ids)
          whole.expectExactly(ids)
          failed.expectExactly(recorded.filter((run) => run.failed).map(({ executionId }) => executionId))
          none.expectExactly([])
          await writer.stop()
          await store.close()
        },
      ),
      { numRuns: 25 },
    )
  }, 120_000)

  test('receives each entry of the running service exactly once', async () => {
    const world = await ExecutionWorld.open({ 'runs-max': '100' })
    try {
      const id = await world.deploy(
        document({ blocks: [start(), block('w', 'wait', { ms: '<api.input.ms>' })], edges: ['start > w'] }),
      )
      const since = new Date(Date.now() - 60_000).toISOString()
      const ask = async (filter: string, cursor: string) => {
        const path = `/api/v1/logs?workspaceId=${world.workspaceId}&order=asc&startDate=${since}${filter}${cursor}`
        return (await world.call(path)).json as Page
      }
      const pollers = [
        new Poller((cursor) => ask('&limit=7', cursor)),
        new Poller((cursor) => ask('&limit=100&minDurationMs=5', cursor)),
      ] as const
      let running = slots
      const executionIds: string[] = []
      const long: string[] = []
      const runs = Array.from({ length: slots }, async (_, slot) => {
        for (let index = 0; index < 8; index += 1) {
          const ms = [0, 0, 1, 3, 30][(slot + index) % 5]!
          const { json, status } = await world.execute(id, { ms })
          expect(status).toBe(200)
          const { executionId } = json as { executionId: string }
          executionIds.push(executionId)
          if (ms === 30) long.push(executionId)
        }
        running -= 1
      })
      while (running > 0) for (const poller of pollers) await poller.poll()
      await Promise.all(runs)
      // On PostgreSQL, readers wait for transactions of other tests, so an empty page need not be the end.
      const deadline = performance.now() + 20_000
      while (pollers[0].met.length < executionIds.length && performance.now() < deadline) await pollers[0].poll()
      for (const poller of pollers) while (await poller.poll()) {}
      pollers[0].expectExactly(executionIds)
      const met = pollers[1].met.map(({ executionId }) => executionId)
      expect(new Set(met).size).toBe(met.length)
      for (const executionId of long) expect(met).toContain(executionId)
    } finally {
      await world.close()
    }
  }, 120_000)
})
