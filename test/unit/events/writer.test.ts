import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { AppError } from '../../../src/domain/errors.ts'
import { LogSequence } from '../../../src/domain/ids.ts'
import type { Refusal } from '../../../src/domain/run/claim.ts'
import type { Write } from '../../../src/domain/run/write.ts'
import { LogWriter } from '../../../src/events/writer.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { ManualClock } from '../../support/clock.ts'
import { runRecord } from '../../support/events/run-record.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { install } from '../../support/store/installed.ts'
import { entriesOf, logQuery } from '../../support/store/log-model.ts'
import { rejectionOf } from '../../support/store/rejection.ts'

/**
 * A writer with a real store in this process and a gate in front of it. A test opens the gate, or makes the disk fail.
 */
async function world(options: { rowsWaitingMax?: number; charsWaitingMax?: number } = {}) {
  const folder = temporaryFolder()
  const store = await openSqliteStore({ directory: folder.path, sync: 'normal', mode: 'direct' })
  const home = await install(store)
  const gate = new Gate(store)
  const clock = new ManualClock()
  const health: boolean[] = []
  const writer = new LogWriter({
    store: gate,
    clock,
    sequence: new LogSequence(() => clock.now()),
    rowsWaitingMax: 1_000,
    onHealth: (healthy) => health.push(healthy),
    ...options,
  })
  const { workflowId, workspaceId } = home
  return {
    home,
    store,
    gate,
    clock,
    health,
    writer,
    append: (more = {}) => writer.append(runRecord({ workflowId, workspaceId, ...more })),
    recorded: async () => entriesOf(await store.queryLogs(logQuery(workspaceId))).map(({ executionId }) => executionId),
    async [Symbol.asyncDispose]() {
      gate.open()
      await writer.stop()
      await store.close()
      folder[Symbol.dispose]()
    },
  }
}

class Gate implements Pick<Store, 'append' | 'probe'> {
  readonly #store: Store
  readonly groups: number[] = []
  probes = 0
  /** While this is true, groups and probe writes fail. */
  broken = false
  #closed: PromiseWithResolvers<void> | undefined
  #arrived = Promise.withResolvers<void>()

  constructor(store: Store) {
    this.#store = store
  }

  close(): void {
    this.#closed ??= Promise.withResolvers()
  }

  open(): void {
    this.#closed?.resolve()
    this.#closed = undefined
  }

  /** Resolves when the next group arrives. */
  arrival(): Promise<void> {
    return this.#arrived.promise
  }

  async append(writes: readonly Write[]): Promise<readonly Refusal[] | undefined> {
    this.groups.push(writes.length)
    this.#arrived.resolve()
    this.#arrived = Promise.withResolvers()
    await this.#closed?.promise
    if (this.broken) throw new AppError('STORAGE_UNAVAILABLE', 'The disk is full', { retryAfterS: 1 })
    return await this.#store.append(writes)
  }

  async probe(): Promise<boolean> {
    this.probes += 1
    return !this.broken && (await this.#store.probe())
  }
}

describe('group commit', () => {
  test('an append resolves with its sequence when its entry can be read', async () => {
    await using it = await world()
    const { sequence } = await it.append({ executionId: 'one' })
    expect(await it.store.getLog(sequence)).toMatchObject({ executionId: 'one' })
  })

  test('runs that end in one turn of the event loop share a commit; runs that end meanwhile share the next', async () => {
    await using it = await world()
    it.gate.close()
    const first = Array.from({ length: 10 }, () => it.append())
    await it.gate.arrival()
    const second = Array.from({ length: 25 }, () => it.append())
    it.gate.open()
    await Promise.all([...first, ...second])
    expect(it.gate.groups).toEqual([10, 25])
    expect(it.writer.rowsWaiting).toBe(0)
  })

  test('a single run is committed without waiting for other runs or a timer', async () => {
    await using it = await world()
    await it.append()
    expect(it.gate.groups).toEqual([1])
    expect(it.clock.pending).toBe(0)
  })

  test('a run that ends before its acceptance is on disk takes one write, which resolves both', async () => {
    await using it = await world()
    const { executionId } = runRecord()
    let sealed = 0
    const row = {
      ...{ executionId, version: 1, trigger: 'webhook' as const, createdAt: 5, startedAt: 5 },
      ...{ workflowId: it.home.workflowId, workspaceId: it.home.workspaceId },
      get input() {
        sealed += 1
        return new Uint8Array([1])
      },
    }
    it.gate.close()
    const other = it.append()
    const accepted = it.writer.write({ kind: 'job', row, chars: 1 })
    const ended = it.append({ executionId, createdAt: 5 })
    await it.gate.arrival()
    expect([it.gate.groups, it.writer.rowsWaiting, sealed]).toEqual([[2], 2, 0])
    it.gate.open()
    expect(await accepted).toBeUndefined()
    await Promise.all([other, ended])
    expect(await it.recorded()).toContain(executionId)
    expect(await it.store.getJob(executionId)).toBeUndefined()

    it.gate.broken = true
    const refused = it.writer.write({ kind: 'job', row: { ...row, executionId: 'two' }, chars: 1 })
    const lost = it.append({ executionId: 'two', createdAt: 5 })
    for (const each of [refused, lost]) expect(await rejectionOf(each)).toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
    expect(await it.store.getJob('two')).toBeUndefined()
  })

  test('entries are numbered in the order of recording, even when the clock goes back', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: -5_000, max: 5_000 }), { maxLength: 30 }), async (steps) => {
        await using it = await world()
        const appended: Promise<{ sequence: number }>[] = []
        for (const [index, step] of steps.entries()) {
          it.clock.setNow(it.clock.now() + step)
          appended.push(it.append({ executionId: `${index}` }))
          if (step % 3 === 0) await appended.at(-1)
        }
        const sequences = (await Promise.all(appended)).map(({ sequence }) => sequence)
        expect(sequences).toEqual(sequences.toSorted((a, b) => a - b))
        expect(new Set(sequences).size).toBe(sequences.length)
        expect(await it.recorded()).toEqual(steps.map((_, index) => `${index}`))
      }),
      { numRuns: 8 },
    )
  })

  test('large runs are divided into several commits', async () => {
    await using it = await world()
    const output = 'x'.repeat(500_000)
    await Promise.all(Array.from({ length: 8 }, () => it.append({ output })))
    expect(it.gate.groups).toEqual([4, 4])
  })
})

describe('back-pressure', () => {
  test('appends beyond the row limit are refused until some are written', async () => {
    await using it = await world({ rowsWaitingMax: 5 })
    it.gate.close()
    const taken = Array.from({ length: 5 }, () => it.append())
    expect(await rejectionOf(it.append())).toMatchObject({ code: 'OVERLOADED', retryAfterS: 1 })
    it.gate.open()
    await Promise.all(taken)
    await it.append()
    expect(await it.recorded()).toHaveLength(6)
  })

  test('appends beyond the text limit are refused', async () => {
    await using it = await world({ charsWaitingMax: 100_000 })
    it.gate.close()
    const taken = it.append({ output: 'x'.repeat(200_000) })
    expect(await rejectionOf(it.append())).toMatchObject({ code: 'OVERLOADED' })
    it.gate.open()
    await taken
    await it.append()
  })
})

describe('a failing group', () => {
  test('that the storage refuses rejects everything waiting and new, until a probe write succeeds', async () => {
    await using it = await world()
    it.gate.close()
    it.gate.broken = true
    const group = [it.append(), it.append()]
    await it.gate.arrival()
    const behind = it.append()
    it.gate.open()
    for (const append of [...group, behind]) {
      const error = await rejectionOf(append)
      expect(error).toMatchObject({ code: 'STORAGE_UNAVAILABLE', retryAfterS: 1 })
      expect((error as Error).message).toContain('The disk is full')
    }
    expect(it.writer.healthy).toBe(false)
    expect(await rejectionOf(it.append())).toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
    expect(it.gate.groups).toEqual([2])

    for (let n = 1; n <= 3; n += 1) {
      await it.clock.whenPending()
      it.clock.advance(250)
      expect(it.gate.probes).toBe(n)
    }
    await it.clock.whenPending()
    it.gate.broken = false
    it.clock.advance(250)
    while (!it.writer.healthy) await new Promise((resolve) => setImmediate(resolve))
    await it.append({ executionId: 'after' })
    expect(await it.recorded()).toEqual(['after'])
    expect(it.health).toEqual([false, true])
    expect(it.clock.pending).toBe(0)
  })

  test('with an invalid row loses only that row', async () => {
    await using it = await world()
    const bad = { workflowId: 'gone' }
    const runs = [{ executionId: 'a' }, bad, { executionId: 'b' }, { executionId: 'a' }, { executionId: 'c' }]
    const outcomes = await Promise.allSettled(runs.map((more) => it.append(more)))
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
    expect(await it.recorded()).toEqual(['a', 'b', 'c'])
    expect(it.gate.groups).toEqual([5, 1, 1, 1, 1, 1])
    expect(it.writer.healthy).toBe(true)
    await it.append({ executionId: 'd' })
  })

  test('is rejected as a whole when the storage fails while its rows are written individually', async () => {
    await using it = await world()
    const append = it.gate.append.bind(it.gate)
    it.gate.append = async (writes) => {
      if (it.gate.groups.length === 2) it.gate.broken = true
      return await append(writes)
    }
    const runs = [{ executionId: 'a' }, { workflowId: 'gone' }, { executionId: 'b' }]
    const outcomes = await Promise.allSettled(runs.map((more) => it.append(more)))
    const codes = outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : 'ok'))
    expect(codes).toEqual(['ok', 'STORAGE_UNAVAILABLE', 'STORAGE_UNAVAILABLE'])
    expect(await it.recorded()).toEqual(['a'])
    expect(it.writer.rowsWaiting).toBe(0)
  })
})

describe('stopping', () => {
  test('commits waiting rows and refuses new writes', async () => {
    await using it = await world()
    const waiting = Array.from({ length: 3 }, () => it.append())
    const stopped = it.writer.stop()
    expect(await rejectionOf(it.append())).toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
    await stopped
    await Promise.all(waiting)
    expect(await it.recorded()).toHaveLength(3)
  })

  test('ends the probe writes to a broken disk', async () => {
    await using it = await world()
    it.gate.broken = true
    await rejectionOf(it.append())
    await it.clock.whenPending()
    await it.writer.stop()
    expect(it.clock.pending).toBe(0)
  })

  test('flush resolves when everything waiting is written, also large runs', async () => {
    await using it = await world()
    const large = it.append({ executionId: 'large', output: Array(200_000).fill('long') })
    const small = it.append({ executionId: 'small' })
    await it.writer.flush()
    expect(it.writer.rowsWaiting).toBe(0)
    expect((await small).sequence).toBeLessThan((await large).sequence)
  })
})
