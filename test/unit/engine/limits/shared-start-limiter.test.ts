import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { AppError, StartSkipped } from '../../../../src/domain/errors.ts'
import { decideStarts, type SharedGroup } from '../../../../src/domain/run/shared-starts.ts'
import type { StartLimits } from '../../../../src/engine/compile/start-limits.ts'
import { SharedStartLimiter } from '../../../../src/engine/limits/shared-start-limiter.ts'
import type { Slot } from '../../../../src/engine/limits/start-group.ts'
import { ManualClock } from '../../../support/clock.ts'

const limitsWith = (limits: Partial<StartLimits>): StartLimits => ({
  ...{ concurrency: Number.POSITIVE_INFINITY, rate: undefined, beyond: 'queue', queueMax: 1_000, debounce: undefined },
  keyOf: (_, { input }) => String(input['key'] ?? 'k'),
  ...limits,
})

/** The store that the processes of an installation share. */
class Shared {
  readonly clock = new ManualClock()
  readonly living = new Set<number>()
  /** Whether responses get lost. */
  isBroken = false
  readonly #groups = new Map<string, SharedGroup | undefined>()

  get group(): SharedGroup | undefined {
    return this.#groups.get('k')
  }

  process(owner: number): Process {
    this.living.add(owner)
    return new Process(this, owner)
  }

  exchange(owner: number): ConstructorParameters<typeof SharedStartLimiter>[0]['exchange'] {
    return async (asks) => {
      await Promise.resolve()
      const answers = asks.map((ask) => {
        const moment = { owner, living: this.living, now: this.clock.monotonic() }
        const decided = decideStarts(this.#groups.get(ask.key), ask, moment)
        // The store does the same.
        this.#groups.set(ask.key, decided.group && (JSON.parse(JSON.stringify(decided.group)) as SharedGroup))
        return decided.answer
      })
      if (this.isBroken) throw new AppError('STORAGE_UNAVAILABLE', 'The answer was lost')
      return answers
    }
  }
}

class Process {
  readonly running = new Map<string, Slot>()
  readonly cancelled: string[] = []
  readonly begun: string[] = []
  readonly #limiter: SharedStartLimiter
  active: StartLimits | undefined
  /** Called when a run starts. */
  began: (executionId: string) => void = () => undefined

  constructor(shared: Shared, owner: number) {
    this.#limiter = new SharedStartLimiter({
      clock: shared.clock,
      cancel: (executionId) => this.cancelled.push(executionId),
      limitsOf: async () => this.active,
      exchange: shared.exchange(owner),
    })
  }

  async admit(executionId: string, limits: StartLimits, key = 'k'): Promise<'slot' | 'waits' | 'skipped' | string> {
    const start = { executionId, workflowId: 'w', trigger: 'api' as const, input: { input: { key }, fields: {} } }
    try {
      const entry = await this.#limiter.admit(start, limits, (slot) => this.#begin(executionId, slot))
      if (!entry.slot) return 'waits'
      this.#begin(executionId, entry.slot)
      return 'slot'
    } catch (error) {
      if (error instanceof StartSkipped) return 'skipped'
      if (error instanceof AppError) return `${error.code} ${error.retryAfterS}`
      throw error
    }
  }

  end(executionId: string): void {
    this.running.get(executionId)?.release()
    this.running.delete(executionId)
  }

  #begin(executionId: string, slot: Slot): void {
    slot.begin()
    this.running.set(executionId, slot)
    this.begun.push(executionId)
    this.began(executionId)
  }
}

/** Resolves when all current requests to the store have ended. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve()
}

describe('two processes', () => {
  test('share the slots: one process gets the slot that the other one releases', async () => {
    const shared = new Shared()
    const [a, b] = [shared.process(1), shared.process(2)]
    const limits = limitsWith({ concurrency: 1 })
    expect(await a.admit('a1', limits)).toBe('slot')
    expect(await b.admit('b1', limits)).toBe('waits')
    a.end('a1')
    await settle()
    shared.clock.advance(100)
    await settle()
    expect([...b.running.keys()]).toEqual(['b1'])
  })

  test('share the queue and the rate, and refuse together', async () => {
    const shared = new Shared()
    const [a, b] = [shared.process(1), shared.process(2)]
    const limits = limitsWith({ rate: { count: 2, windowMs: 5_000 }, queueMax: 1 })
    expect([await a.admit('a1', limits), await b.admit('b1', limits)]).toEqual(['slot', 'slot'])
    expect(await a.admit('a2', limits)).toBe('waits')
    expect(await b.admit('b2', limits)).toBe('WORKFLOW_LIMIT 5')
    expect(await b.admit('b3', { ...limits, beyond: 'skip' })).toBe('skipped')
  })

  test('cancel the oldest run, in either process', async () => {
    const shared = new Shared()
    const [a, b] = [shared.process(1), shared.process(2)]
    const limits = limitsWith({ concurrency: 1, beyond: 'replace' })
    await a.admit('a1', limits)
    expect(await b.admit('b1', limits)).toBe('waits')
    shared.clock.advance(100)
    await settle()
    expect([a.cancelled, a.running.get('a1')?.isReplaced]).toEqual([['a1'], true])
    a.end('a1')
    await settle()
    shared.clock.advance(100)
    await settle()
    expect([[...b.running.keys()], b.cancelled]).toEqual([['b1'], []])
  })

  test('take over the slots of a process that is gone', async () => {
    const shared = new Shared()
    const [a, b] = [shared.process(1), shared.process(2)]
    const limits = limitsWith({ concurrency: 1 })
    await a.admit('a1', limits)
    expect(await b.admit('b1', limits)).toBe('waits')
    shared.living.delete(1)
    shared.clock.advance(100)
    await settle()
    expect([...b.running.keys()]).toEqual(['b1'])
  })

  test('do not starve each other', async () => {
    const shared = new Shared()
    const [a, b] = [shared.process(1), shared.process(2)]
    const limits = limitsWith({ concurrency: 1 })
    await a.admit('a0', limits)
    await b.admit('b0', limits)
    let last = 0
    for (; last < 100 && b.running.size === 0; last += 1) {
      void a.admit(`a${last + 1}`, limits)
      await settle()
      for (const id of a.running.keys()) a.end(id)
      await settle()
      shared.clock.advance(100)
      await settle()
    }
    expect(b.running.size).toBe(1)
  })
})

test('a key that returns after it was forgotten keeps its limit', async () => {
  const shared = new Shared()
  const [a, b] = [shared.process(1), shared.process(2)]
  const limits = limitsWith({ concurrency: 1 })
  await a.admit('a1', limits)
  a.end('a1')
  // This request reports the end of the run to the store.
  await a.admit('other', limits, 'other')
  expect(await a.admit('a2', limits)).toBe('slot')
  shared.clock.advance(20)
  await settle()
  expect(await b.admit('b1', limits)).toBe('waits')
  expect(await a.admit('a3', limits)).toBe('waits')
  for (let turn = 0; turn < 30; turn += 1) {
    for (const each of [a, b]) for (const id of each.running.keys()) if (id !== 'other') each.end(id)
    shared.clock.advance(100)
    await settle()
  }
  expect([a.begun.includes('a3'), b.begun.includes('b1')]).toEqual([true, true])
})

test('a lost response leaves no slot behind', async () => {
  const shared = new Shared()
  const a = shared.process(1)
  const limits = limitsWith({ concurrency: 1 })
  shared.isBroken = true
  expect(await a.admit('a1', limits)).toStartWith('STORAGE_UNAVAILABLE')
  shared.isBroken = false
  shared.clock.advance(100)
  await settle()
  expect(shared.group).toBeUndefined()
})

const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('start' as const), owner: fc.nat(2) }),
    fc.record({ kind: fc.constant('end' as const), which: fc.nat(20) }),
    fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 300 }) }),
    fc.record({ kind: fc.constant('fault' as const), isBroken: fc.boolean() }),
  ),
  { maxLength: 120 },
)

test('three processes never exceed the limits, despite lost responses, and every start gets its turn', async () => {
  await fc.assert(
    fc.asyncProperty(
      steps,
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 10 }),
      async (list, concurrency, count) => {
        const shared = new Shared()
        const windowMs = 500
        const limits = limitsWith({ concurrency, rate: { count, windowMs } })
        const times: number[] = []
        // The test collects errors, because an error here would look like one of the store.
        const exceeded: string[] = []
        const processes = [1, 2, 3].map((owner) => shared.process(owner))
        const running = () => processes.flatMap((each) => [...each.running.keys()].map((id) => [each, id] as const))
        const started = new Set<string>()
        for (const each of processes) {
          each.began = (id) => {
            started.add(id)
            times.push(shared.clock.monotonic())
            if (running().length > concurrency) exceeded.push(`${running().length} runs`)
            const before = times.at(-count - 1)
            if (before !== undefined && shared.clock.monotonic() - before < windowMs) exceeded.push(`${before}`)
          }
        }
        const accepted: string[] = []
        for (const [index, step] of list.entries()) {
          if (step.kind === 'start') {
            const asking = processes[step.owner]!.admit(`${index}`, limits)
            await settle()
            if (['slot', 'waits'].includes(await asking)) accepted.push(`${index}`)
          } else if (step.kind === 'end') {
            const all = running()
            const found = all[step.which % Math.max(1, all.length)]
            found?.[0].end(found[1])
          } else if (step.kind === 'wait') shared.clock.advance(step.ms)
          else shared.isBroken = step.isBroken
          await settle()
        }
        shared.isBroken = false
        for (let round = 0; started.size < accepted.length && round < 2_000; round += 1) {
          for (const [process, id] of running()) process.end(id)
          await settle()
          shared.clock.advance(100)
          await settle()
        }
        expect(exceeded).toEqual([])
        expect(accepted.filter((id) => !started.has(id))).toEqual([])
      },
    ),
    { numRuns: 30 },
  )
}, 60_000)
