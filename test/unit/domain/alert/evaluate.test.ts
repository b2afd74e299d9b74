import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { AlertRule } from '../../../../src/domain/alert/alert.ts'
import { alertText, durationText } from '../../../../src/domain/alert/alert-text.ts'
import { evaluate } from '../../../../src/domain/alert/evaluate.ts'
import type {
  AlertBatch,
  EndedRun,
  FiringContent,
  Watcher,
  WatcherState,
} from '../../../../src/domain/alert/evaluation.ts'

const start = Date.UTC(2026, 0, 1)
const quietMs = 60_000

const watcher = (more: Partial<Watcher> = {}): Watcher => ({
  ...{ number: 1, id: 'a', name: 'Tell me', events: ['run.failed'], rule: null, quietMs, watchesAll: true },
  ...{ workflowIds: new Set(), starts: null, since: start, quietUntil: null, suppressed: 0 },
  ...more,
})
let sequence = 0
const run = (endedAt: number, more: Partial<EndedRun> = {}): EndedRun => {
  sequence += 1
  const facts = { workflowId: 'w', workflowName: 'Orders', executionId: `e${sequence}`, durationMs: 5, costUsd: 0 }
  return { sequence, endedAt, status: 'error', error: 'Refused', ...facts, ...more }
}
const batch = (more: Partial<AlertBatch> = {}): AlertBatch => ({
  ...{ workspaceId: 'home', revision: 1, watchers: [watcher()], runs: [], events: [], states: [], hasMore: false },
  ...{ position: { commitOrder: null, sequence: 0 }, chains: new Map() },
  ...more,
})
const ids = () => 'new-run'

describe('a watcher', () => {
  test('fires at most once in each quiet time, and counts the events that it has left out', () => {
    const steps = fc.array(fc.record({ waitMs: fc.integer({ min: 0, max: 50_000 }), failures: fc.nat(4) }))
    fc.assert(
      fc.property(steps, (list) => {
        let now = start
        let known = watcher()
        let [told, happened] = [0, 0]
        let lastAt = Number.NEGATIVE_INFINITY
        for (const { waitMs, failures } of list) {
          now += waitMs
          const runs = Array.from({ length: failures }, () => run(now))
          happened += failures
          const evaluation = evaluate(batch({ watchers: [known], runs }), now, ids)
          expect(evaluation.firings.length).toBe(failures > 0 && now >= lastAt + quietMs ? 1 : 0)
          for (const { content, at } of evaluation.firings) {
            told += 1 + content.suppressed
            lastAt = at
          }
          known = { ...known, ...evaluation.watchers[0] }
        }
        expect(told + known.suppressed).toBe(happened)
      }),
    )
  })

  test('does not look at what happened before it, or at workflows that it does not name', () => {
    const named = watcher({ watchesAll: false, workflowIds: new Set(['other']) })
    expect(evaluate(batch({ runs: [run(start - 1)] }), start, ids).firings).toEqual([])
    expect(evaluate(batch({ watchers: [named], runs: [run(start)] }), start, ids).firings).toEqual([])
    expect(evaluate(batch({ runs: [run(start, { status: 'cancelled' })] }), start, ids).firings).toEqual([])
  })

  test('without a quiet time fires for each event', () => {
    const runs = [run(start), run(start), run(start)]
    expect(evaluate(batch({ watchers: [watcher({ quietMs: 0 })], runs }), start, ids).firings).toHaveLength(3)
  })
})

describe('the rule "no activity"', () => {
  const rule: AlertRule = { type: 'no_activity', windowMs: 600_000 }
  const silent = (dueAt: number): WatcherState => ({
    ...{ watcher: 1, workflowId: null, workflowName: null, state: {}, dueAt },
  })

  test('fires at its time, not before, and again after the quiet time', () => {
    const at = (now: number, dueAt: number) => {
      const watchers = [watcher({ rule, events: [] })]
      return evaluate(batch({ watchers, states: [silent(dueAt)] }), now, ids)
    }
    expect(at(start, start + 1).firings).toEqual([])
    const fired = at(start + 1, start + 1)
    expect(fired.firings).toMatchObject([{ content: { type: 'no_activity', workflowId: null } }])
    expect(fired.states).toMatchObject([{ dueAt: start + 2 + quietMs }])
  })

  test('fires for each of several workflows in turn', () => {
    let states: WatcherState[] = ['a', 'b', 'c'].map((workflowId) => ({
      ...{ watcher: 1, workflowId, workflowName: workflowId, state: {}, dueAt: start },
    }))
    let known = watcher({ rule, events: [], watchesAll: false, workflowIds: new Set(['a', 'b', 'c']) })
    const told: unknown[] = []
    for (let now = start; told.length < 6; now += 1_000) {
      const evaluation = evaluate(batch({ watchers: [known], states }), now, ids)
      told.push(...evaluation.firings.map(({ content }) => content.workflowId))
      known = { ...known, ...evaluation.watchers[0] }
      const changed = evaluation.states.map((state) => ({ ...state, workflowName: state.workflowId }))
      states = states.map((state) => changed.find(({ workflowId }) => workflowId === state.workflowId) ?? state)
    }
    expect(told).toEqual(['a', 'b', 'c', 'a', 'b', 'c'])
  })

  test('does not fire while the log has more to read, or after a run', () => {
    const watchers = [watcher({ rule, events: [] })]
    const states = [silent(start)]
    expect(evaluate(batch({ watchers, states, hasMore: true }), start + 5, ids).firings).toEqual([])
    const ended = evaluate(batch({ watchers, states, runs: [run(start + 5)] }), start + 5, ids)
    expect([ended.firings, ended.states[0]?.dueAt]).toEqual([[], start + 5 + 600_000])
  })
})

describe('an event trigger', () => {
  const trigger = (starts: string, more: Partial<Watcher> = {}) => watcher({ starts, quietMs: 0, ...more })

  test('carries the events that led to its run', () => {
    const failed = run(start, { workflowId: 'b' })
    const chains = new Map([[failed.executionId, ['run.failed@a', 'run.failed@x']]])
    const { firings, endedChains } = evaluate(batch({ watchers: [trigger('c')], runs: [failed], chains }), start, ids)
    const chain = ['run.failed@a', 'run.failed@x', 'run.failed@b', 'run.failed@c']
    expect(firings[0]?.start).toEqual({ workflowId: 'c', executionId: 'new-run', chain })
    expect(endedChains).toEqual([failed.executionId])
  })

  test('starts nothing for an event that has led to the run itself, but an alert fires', () => {
    const failed = run(start, { workflowId: 'a' })
    const chains = new Map([[failed.executionId, ['run.failed@a']]])
    const watchers = [trigger('c'), watcher({ number: 2 })]
    const { firings } = evaluate(batch({ watchers, runs: [failed], chains }), start, ids)
    expect(firings.map(({ watcher: number }) => number)).toEqual([2])
  })

  test('for all workflows does not watch its own', () => {
    expect(evaluate(batch({ watchers: [trigger('w')], runs: [run(start)] }), start, ids).firings).toEqual([])
  })

  test('never starts runs without end, whichever workflows start each other', () => {
    const workflows = ['a', 'b', 'c']
    const wiring = fc.array(
      fc.record({ starts: fc.constantFrom(...workflows), on: fc.constantFrom(...workflows), type: fc.boolean() }),
      { maxLength: 9 },
    )
    fc.assert(
      fc.property(wiring, fc.constantFrom(...workflows), (list, first) => {
        const watchers = list.map(({ starts, on, type }, index) =>
          trigger(starts, {
            ...{ number: index + 1, watchesAll: false, workflowIds: new Set([on]) },
            events: [type ? 'run.failed' : 'run.succeeded'],
          }),
        )
        let open: { workflowId: string; chain: readonly string[] }[] = [{ workflowId: first, chain: [] }]
        let rounds = 0
        while (open.length > 0) {
          rounds += 1
          // Six links are possible: two types in three workflows. Each round adds one.
          expect(rounds).toBeLessThan(10)
          open = open.slice(0, 50).flatMap(({ workflowId, chain }) => {
            return (['success', 'error'] as const).flatMap((status) => {
              const ended = run(start, { workflowId, status })
              const chains = new Map([[ended.executionId, chain]])
              const { firings } = evaluate(batch({ watchers, runs: [ended], chains }), start, ids)
              return firings.flatMap((firing) => firing.start ?? [])
            })
          })
        }
      }),
    )
  })
})

test('messages name the workflow, the reason and what the rule has measured', () => {
  const content: FiringContent = {
    ...{ alert: { id: 'a', name: 'Tell me' }, workflowId: 'w', workflowName: 'Orders', executionId: 'e' },
    ...{ type: 'run.failed', error: 'Refused', rule: null, measured: null, suppressed: 0, at: '' },
  }
  const textOf = (rule: AlertRule, runs: number, sum: number) =>
    alertText({ ...content, rule, measured: { runs, sum }, error: null })
  expect(alertText(content)).toBe('"Orders" failed: Refused')
  expect(alertText({ ...content, suppressed: 2 })).toContain(' (2 more such events since the last message)')
  expect(textOf({ type: 'consecutive_failures', count: 3 }, 3, 3)).toBe('"Orders" failed 3 times in a row.')
  const rate = textOf({ type: 'failure_rate', percent: 50, windowMs: 3_600_000, minRuns: 1 }, 8, 5)
  expect(rate).toBe('62.5 % of the runs of "Orders" failed in 1 hour (5 of 8).')
  expect(textOf({ type: 'no_activity', windowMs: 5_400_000 }, 0, 0)).toContain('"Orders" has ended for 90 minutes.')
  expect([durationText(86_400_000), durationText(1_500)]).toEqual(['1 day', '1500 ms'])
})
