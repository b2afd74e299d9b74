import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { AppError, StartSkipped } from '../../../../src/domain/errors.ts'
import type { StartLimits } from '../../../../src/engine/compile/start-limits.ts'
import type { Slot } from '../../../../src/engine/limits/start-group.ts'
import { StartLimiter } from '../../../../src/engine/limits/start-limiter.ts'
import { ManualClock } from '../../../support/clock.ts'

const limitsWith = (limits: Partial<StartLimits>): StartLimits => ({
  ...{ concurrency: Number.POSITIVE_INFINITY, rate: undefined, beyond: 'queue', queueMax: 1_000, debounce: undefined },
  keyOf: (_, { input }) => String(input['key'] ?? ''),
  ...limits,
})

/** A limiter, with the starts that have a slot. */
class Starts {
  readonly clock = new ManualClock()
  readonly cancelled: string[] = []
  /** In the order of their grants. */
  readonly granted = new Map<string, Slot>()
  active: StartLimits | undefined
  readonly limiter = new StartLimiter({
    clock: this.clock,
    cancel: (executionId) => this.cancelled.push(executionId),
    limitsOf: async () => this.active,
  })

  /** Starts a run. Returns whether it has a slot, waits or is skipped, or the error. */
  admit(executionId: string, limits: StartLimits, key = ''): 'slot' | 'waits' | 'skipped' | AppError {
    const start = { executionId, workflowId: 'w', trigger: 'api' as const, input: { input: { key }, fields: {} } }
    try {
      const entry = this.limiter.admit(start, limits, (slot) => this.#take(executionId, slot))
      if (!entry.slot) return 'waits'
      this.#take(executionId, entry.slot)
      return 'slot'
    } catch (error) {
      if (error instanceof StartSkipped) return 'skipped'
      if (error instanceof AppError) return error
      throw error
    }
  }

  #take(executionId: string, slot: Slot): void {
    slot.begin()
    this.granted.set(executionId, slot)
  }

  end(executionId: string): void {
    this.granted.get(executionId)?.release()
  }
}

describe('a start over the concurrency', () => {
  test.each(['skip', 'refuse'] as const)('is reported with its execution ID with "%s"', (beyond) => {
    const reported: unknown[] = []
    const limiter = new StartLimiter({
      ...{ clock: new ManualClock(), cancel: () => {}, limitsOf: async () => undefined },
      onOutcome: (_, workflowId, refused) => void reported.push([workflowId, refused?.executionId, refused?.trigger]),
    })
    const start = { workflowId: 'w', trigger: 'event' as const, input: { input: {}, fields: {} } }
    const limits = limitsWith({ concurrency: 1, beyond })
    limiter.admit({ ...start, executionId: 'a' }, limits, () => {})
    expect(() => limiter.admit({ ...start, executionId: 'b' }, limits, () => {})).toThrow()
    expect(reported).toEqual([['w', 'b', 'event']])
  })

  test('waits with "queue" until a run ends, in the order of the starts', () => {
    const starts = new Starts()
    const limits = limitsWith({ concurrency: 1 })
    expect(['a', 'b', 'c'].map((id) => starts.admit(id, limits))).toEqual(['slot', 'waits', 'waits'])
    starts.end('a')
    expect([...starts.granted.keys()]).toEqual(['a', 'b'])
    starts.end('b')
    expect([...starts.granted.keys()]).toEqual(['a', 'b', 'c'])
  })

  test('is skipped with "skip", and counted', () => {
    const starts = new Starts()
    const limits = limitsWith({ concurrency: 1, beyond: 'skip' })
    expect(['a', 'b'].map((id) => starts.admit(id, limits))).toEqual(['slot', 'skipped'])
    expect(starts.limiter.countsOf('w')).toEqual({ queued: 0, skipped: 1, refused: 0, replaced: 0 })
    starts.end('a')
    expect(starts.admit('c', limits)).toBe('slot')
  })

  test('is refused with "refuse"', () => {
    const starts = new Starts()
    const limits = limitsWith({ concurrency: 1, beyond: 'refuse' })
    starts.admit('a', limits)
    expect(starts.admit('b', limits)).toMatchObject({ code: 'WORKFLOW_LIMIT', retryAfterS: 1 })
  })

  test('is refused when the queue is full; runs in progress do not count', () => {
    const starts = new Starts()
    const limits = limitsWith({ concurrency: 2, queueMax: 1 })
    expect(['a', 'b', 'c'].map((id) => starts.admit(id, limits))).toEqual(['slot', 'slot', 'waits'])
    expect(starts.admit('d', limits)).toMatchObject({ code: 'WORKFLOW_LIMIT' })
  })

  test('cancels the oldest run with "replace", one for each new start, and runs when that run has ended', () => {
    const starts = new Starts()
    const limits = limitsWith({ concurrency: 2, beyond: 'replace' })
    for (const id of ['a', 'b', 'c']) starts.admit(id, limits)
    expect(starts.cancelled).toEqual(['a'])
    expect([...starts.granted.keys()]).toEqual(['a', 'b'])
    starts.end('a')
    expect([...starts.granted.keys()]).toEqual(['a', 'b', 'c'])
    expect(starts.cancelled).toEqual(['a'])
    for (const id of ['d', 'e', 'f']) starts.admit(id, limits)
    expect(starts.cancelled).toEqual(['a', 'b', 'c'])
    starts.end('b')
    expect(starts.granted.get('d')?.isReplaced).toBe(true)
  })

  test('does not affect another key', () => {
    const starts = new Starts()
    const limits = limitsWith({ concurrency: 1 })
    expect([starts.admit('a', limits, 'x'), starts.admit('b', limits, 'y')]).toEqual(['slot', 'slot'])
  })
})

describe('a start over the rate', () => {
  const rate = { count: 2, windowMs: 10_000 }

  test('waits until the window has room', () => {
    const starts = new Starts()
    const limits = limitsWith({ rate })
    starts.admit('a', limits)
    starts.clock.advance(4_000)
    expect(['b', 'c', 'd'].map((id) => starts.admit(id, limits))).toEqual(['slot', 'waits', 'waits'])
    starts.clock.advance(5_999)
    expect(starts.granted.size).toBe(2)
    starts.clock.advance(1)
    expect([...starts.granted.keys()]).toEqual(['a', 'b', 'c'])
    starts.clock.advance(4_000)
    expect(starts.granted.size).toBe(4)
  })

  test('is refused with the time after which to try again', () => {
    const starts = new Starts()
    const limits = limitsWith({ rate, beyond: 'refuse' })
    starts.admit('a', limits)
    starts.clock.advance(1_500)
    starts.admit('b', limits)
    expect(starts.admit('c', limits)).toMatchObject({ code: 'WORKFLOW_LIMIT', retryAfterS: 9 })
    starts.clock.advance(8_500)
    expect(starts.admit('c', limits)).toBe('slot')
  })

  test('replaces no run', () => {
    const starts = new Starts()
    const limits = limitsWith({ rate, concurrency: 9, beyond: 'replace' })
    for (const id of ['a', 'b', 'c']) starts.admit(id, limits)
    expect(starts.cancelled).toEqual([])
  })
})

test('a new version without limits lets waiting starts run', async () => {
  const starts = new Starts()
  const limits = limitsWith({ rate: { count: 1, windowMs: 86_400_000 } })
  for (const id of ['a', 'b']) starts.admit(id, limits)
  starts.active = limitsWith({ concurrency: 1, rate: { count: 1, windowMs: 86_400_000 } })
  await starts.limiter.changed('w')
  expect(starts.granted.size).toBe(1)
  starts.active = undefined
  await starts.limiter.changed('w')
  expect(starts.granted.size).toBe(2)
})

test('a key is forgotten when none of its starts counts any more', () => {
  const starts = new Starts()
  const limits = limitsWith({ concurrency: 1 })
  for (let key = 0; key < 100; key += 1) starts.admit(`${key}`, limits, `${key}`)
  expect(starts.limiter.size).toBe(100)
  for (let key = 0; key < 100; key += 1) starts.end(`${key}`)
  expect(starts.limiter.size).toBe(0)
  const slow = limitsWith({ rate: { count: 5, windowMs: 1_000 } })
  for (let key = 0; key < 1_000; key += 1) {
    starts.admit(`${key}`, slow, `${key}`)
    starts.end(`${key}`)
    starts.clock.advance(10)
  }
  expect(starts.limiter.size).toBeLessThan(250)
})

/** Starts, ends of runs, and the time between them. */
const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('start' as const), key: fc.nat(2) }),
    fc.record({ kind: fc.constant('end' as const), which: fc.nat(20) }),
    fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 400 }) }),
  ),
  { maxLength: 400 },
)

test('runs and starts never exceed the limits, and every start gets its turn', () => {
  fc.assert(
    fc.property(
      steps,
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 90 }),
      fc.boolean(),
      (list, concurrency, count, isLimited) => {
        const starts = new Starts()
        const windowMs = 1_000
        const limits = limitsWith({ rate: { count, windowMs }, ...(isLimited && { concurrency }), queueMax: 10_000 })
        const asked = new Map<string, string>()
        const began = new Map<string, number[]>()
        const running = new Map<string, Set<string>>()
        const seen = new Set<string>()
        const note = () => {
          for (const id of starts.granted.keys()) {
            if (seen.has(id)) continue
            seen.add(id)
            const key = asked.get(id) ?? ''
            const times = began.get(key) ?? []
            times.push(starts.clock.monotonic())
            began.set(key, times)
            running.set(key, (running.get(key) ?? new Set()).add(id))
            const first = times.at(-count - 1)
            if (first !== undefined) expect(starts.clock.monotonic() - first).toBeGreaterThanOrEqual(windowMs)
            if (isLimited) expect(running.get(key)?.size).toBeLessThanOrEqual(concurrency)
          }
        }
        const end = (id: string) => {
          running.get(asked.get(id) ?? '')?.delete(id)
          starts.end(id)
          note()
        }
        const all = () => [...running.values()].flatMap((ids) => [...ids])
        const pass = (ms: number) => {
          for (let left = ms; left > 0; left -= 1) {
            starts.clock.advance(1)
            note()
          }
        }
        for (const [index, step] of list.entries()) {
          if (step.kind === 'start') {
            asked.set(`${index}`, `${step.key}`)
            starts.admit(`${index}`, limits, `${step.key}`)
            note()
          } else if (step.kind === 'end') {
            const ids = all()
            const id = ids[step.which % Math.max(1, ids.length)]
            if (id !== undefined) end(id)
          } else pass(step.ms)
        }
        for (let rounds = 0; seen.size < asked.size && rounds < 1_000; rounds += 1) {
          for (const id of all()) end(id)
          pass(1_000)
        }
        expect(seen.size).toBe(asked.size)
      },
    ),
    { numRuns: 40 },
  )
})
