import { describe, expect, test } from 'bun:test'
import { iterationText } from '../../../../../src/ui/editor/run/block-run.ts'
import { entryLines } from '../../../../../src/ui/editor/run/entry-lines.ts'
import type { RunEvent, RunSpan } from '../../../../../src/ui/editor/run/run-event.ts'
import { fold, idle, type RunState, shownEntry } from '../../../../../src/ui/editor/run/run-state.ts'

const startTime = '2025-06-01T00:00:00.000Z'

type Pass = { blockId?: string; iterations?: number[]; depth?: number; parentId?: string | null }

const started = (
  id: string,
  { blockId = 'score', iterations = [], depth = 0, parentId = null }: Pass = {},
): RunEvent => ({
  event: 'block.started',
  span: { id, name: blockId, type: 'function', blockId, startTime },
  ...{ iterations, depth, parentId },
})

const ended = (
  id: string,
  status: RunSpan['status'],
  { blockId = 'score', iterations = [], depth = 0, parentId = null, duration = 1 }: Pass & { duration?: number } = {},
): RunEvent => ({
  event: 'block.ended',
  span: {
    ...{ id, name: blockId, type: 'function', blockId, status, startTime, endTime: startTime, duration },
    ...{ input: {}, output: { id }, children: [] },
  },
  ...{ iterations, depth, parentId },
})

const after = (...events: RunEvent[]): RunState => events.reduce(fold, idle)
const markAfter = (...events: RunEvent[]) => after(...events).blocks.get('score')

describe('a block that runs several times', () => {
  const executions = [
    ended('s3', 'success', { iterations: [0] }),
    ended('s5', 'error', { iterations: [1], duration: 7 }),
    ended('s7', 'success', { iterations: [2] }),
  ]

  test('has failed when one execution failed, whatever follows', () => {
    expect(markAfter(...executions)).toMatchObject({ status: 'error', executions: 3, failures: 1, duration: 7 })
    const entry = shownEntry(after(...executions).entries, 'score')
    expect([entry?.spanId, iterationText(entry?.iterations ?? [])]).toEqual(['s5', '#2'])
  })

  test('is running while one execution runs, and remembers the failure of another', () => {
    const events = [started('s3'), started('s4'), ended('s3', 'error')]
    expect(markAfter(...events)?.status).toBe('running')
    expect(markAfter(...events, ended('s4', 'success'))).toMatchObject({ status: 'error', executions: 2, failures: 1 })
    expect(markAfter(...events, ended('s4', 'success'), started('s5'))?.status).toBe('running')
  })

  test('shows its latest execution when none failed, ignoring skipped ones', () => {
    const both = [ended('s3', 'success', { iterations: [0] }), ended('s4', 'success', { iterations: [1], duration: 9 })]
    expect(markAfter(...both)).toMatchObject({ status: 'success', duration: 9 })
    expect(shownEntry(after(...both).entries, 'score')?.spanId).toBe('s4')
    const skipped = after(...both, ended('s5', 'skipped', { iterations: [2] }))
    expect(skipped.blocks.get('score')).toMatchObject({ status: 'success', executions: 2 })
    expect(shownEntry(skipped.entries, 'score')?.spanId).toBe('s4')
  })

  test('is not confused with a block of a called workflow that has the same id', () => {
    const state = after(ended('s3', 'success'), ended('s9', 'error', { depth: 1 }))
    expect(state.blocks.get('score')).toMatchObject({ status: 'success', executions: 1 })
    expect(shownEntry(state.entries, 'score')?.spanId).toBe('s3')
  })

  test('is counted once, however many blocks run inside it', () => {
    const inner = Array.from({ length: 2_500 }, (_, at) => ended(`s${at + 3}`, 'success', { iterations: [at] }))
    const state = after(started('s2', { blockId: 'loop' }), ...inner, ended('s2', 'success', { blockId: 'loop' }))
    expect(state.blocks.get('loop')).toMatchObject({ status: 'success', executions: 1 })
    expect(state.entries).toHaveLength(2_000)
  })

  test('keeps its failed execution, however many follow', () => {
    const inLoop = (pass: number) => ({ parentId: 's2', iterations: [pass] })
    const executions = Array.from({ length: 2_500 }, (_, at) =>
      ended(`s${at + 3}`, at === 4 ? 'error' : 'success', inLoop(at)),
    )
    const loop = { blockId: 'loop' }
    const state = after(started('s2', loop), ...executions, ended('s2', 'success', loop))
    expect(shownEntry(state.entries, 'score')?.spanId).toBe('s7')
    expect(state.entries.map(({ spanId }) => spanId).slice(0, 2)).toEqual(['s2', 's7'])
  })

  test('has no count when its earlier executions are unknown', () => {
    const late = {
      event: 'run.started',
      executionId: 'e',
      workflowId: 'w',
      trigger: 'manual',
      startedAt: startTime,
    } as const
    const state = after({ ...late, earlier: 400 }, ended('s900', 'success'), ended('s901', 'success'))
    expect([state.earlier, state.blocks.get('score')?.executions]).toEqual([400, 1])
  })
})

test('iterations are counted from 1, the outermost loop first', () => {
  expect([iterationText([]), iterationText([0]), iterationText([1, 0])]).toEqual(['', '#1', '#2.1'])
})

describe('the console', () => {
  const inLoop = (pass: number) => ({ blockId: 'turn', parentId: 's3', iterations: [pass] })
  const inMany = (pass: number) => ({ blockId: 'call', parentId: 's4', iterations: [pass] })
  const linesAfter = (events: RunEvent[], max = 100) =>
    entryLines(after(...events).entries, max).map(({ entry: { blockId, iterations }, level }) =>
      ['  '.repeat(level), blockId, iterationText(iterations)].join('').trimEnd(),
    )
  // A loop next to a parallel, all in the same millisecond. The iterations of the parallel end in any order.
  const events = [
    started('s2', { blockId: 'start' }),
    ended('s2', 'success', { blockId: 'start' }),
    started('s3', { blockId: 'loop' }),
    started('s6', inLoop(0)),
    started('s4', { blockId: 'many' }),
    started('s8', inMany(0)),
    started('s10', inMany(1)),
    started('s14', { blockId: 'deep', depth: 1, parentId: 's10' }),
    started('s12', inLoop(1)),
    started('s16', { ...inMany(0), blockId: 'then' }),
    started('s18', inLoop(2)),
  ]
  const whole = [
    ...['start', 'loop', '  turn#1', '  turn#2', '  turn#3'],
    ...['many', '  call#1', '  then#1', '  call#2', '    deep'],
  ]

  test('lists each iteration under its own container, in order', () => {
    expect(linesAfter(events)).toEqual(whole)
  })

  test('shows the same lines in whatever order events arrive', () => {
    expect(linesAfter(events.toReversed().filter(({ event }) => event === 'block.started'))).toEqual(whole)
  })

  test('drops the oldest lines, but keeps the containers of the others', () => {
    expect(linesAfter(events, 2)).toEqual(['loop', '  turn#3', 'many', '  then#1'])
  })
})
