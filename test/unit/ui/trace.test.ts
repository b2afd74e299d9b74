import { describe, expect, test } from 'bun:test'
import {
  barOf,
  blockRuns,
  failedSpan,
  linesOf,
  pathTo,
  type Span,
  shownSpanOf,
  spanLabel,
} from '../../../src/ui/screens/logs/entry/trace.ts'

function span(id: string, more: Partial<Span> = {}): Span {
  const startTime = '2025-06-01T00:00:00.000Z'
  return {
    ...{ id, name: id, type: 'function', blockId: id, status: 'success', startTime, endTime: startTime, duration: 0 },
    ...{ input: {}, output: {}, children: [] },
    ...more,
  }
}

const pass = (id: string, status: Span['status'], ...children: Span[]) =>
  span(id, { type: 'iteration', blockId: 'each', status, children })
const inner = (id: string, more: Partial<Span> = {}) => span(id, { blockId: 'score', ...more })
const trace = [
  span('root', {
    type: 'workflow',
    blockId: null,
    status: 'error',
    duration: 100,
    children: [
      span('start'),
      span('each', {
        type: 'loop',
        status: 'error',
        children: [
          pass('p0', 'success', inner('s0')),
          pass('p1', 'error', inner('s1', { status: 'error', duration: 7 })),
          pass('p2', 'success', inner('s2')),
        ],
      }),
      span('call', {
        type: 'workflow',
        children: [
          span('foreign-root', {
            type: 'workflow',
            blockId: null,
            children: [span('start-of-other', { blockId: 'start' })],
          }),
        ],
      }),
      span('never', { status: 'skipped' }),
    ],
  }),
]

describe('a trace', () => {
  test('leads to the innermost block that failed', () => {
    expect(failedSpan(trace)?.id).toBe('s1')
    expect(failedSpan([span('fine')])).toBeUndefined()
    expect(pathTo(trace, 's1').map(({ id }) => id)).toEqual(['root', 'each', 'p1', 's1'])
    expect(pathTo(trace, 'nowhere')).toEqual([])
  })

  test('lists the lines of open spans', () => {
    const lines = linesOf(trace, ({ type }) => type !== 'iteration' && type !== 'loop')
    expect(lines.map((line) => `${line.depth} ${line.span.id}`)).toEqual([
      '0 root',
      '1 start',
      '1 each',
      '1 call',
      '2 foreign-root',
      '3 start-of-other',
      '1 never',
    ])
    expect(lines.find((line) => line.span.id === 'each')).toMatchObject({ isOpen: false, parent: 'root' })
  })

  test("gives the state of each of the workflow's own blocks, and the execution that failed", () => {
    const runs = blockRuns(trace)
    expect([...runs.keys()].toSorted()).toEqual(['call', 'each', 'never', 'score', 'start'])
    expect(runs.get('score')).toMatchObject({ status: 'error', executions: 3, failures: 1, duration: 7 })
    expect(runs.get('never')).toMatchObject({ status: 'skipped', executions: 0 })
    expect(shownSpanOf(trace, 'score')?.id).toBe('s1')
    expect(shownSpanOf(trace, 'start')?.id).toBe('start')
  })

  test('counts iterations from 1, like the console', () => {
    expect(spanLabel({ type: 'iteration', name: 'Each of 3 0' })).toBe('Each of 3 #1')
    expect(spanLabel({ type: 'loop', name: 'Loop 2' })).toBe('Loop 2')
  })

  test('places bars inside the run, never outside', () => {
    const root = span('root', { duration: 200 })
    const late = (ms: number, duration: number | null) =>
      span('x', { startTime: new Date(Date.parse(root.startTime) + ms).toISOString(), duration })
    expect(barOf(late(50, 100), root)).toEqual({ left: 25, width: 50 })
    expect(barOf(late(150, 500), root)).toEqual({ left: 75, width: 25 })
    expect(barOf(late(900, 5), root)).toEqual({ left: 100, width: 0 })
    expect(barOf(late(-5, 5), span('none', { duration: 0 })).left).toBe(0)
  })
})
