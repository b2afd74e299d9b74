import { describe, expect, test } from 'bun:test'
import { entryOnCanvas, failedPass, passOf, placeOfError } from '../../../../../src/ui/editor/run/passes.ts'
import type { RunEvent, RunSpan } from '../../../../../src/ui/editor/run/run-event.ts'
import { entriesOf, fold, idle, type RunState, triedOn } from '../../../../../src/ui/editor/run/run-state.ts'

const startTime = '2025-06-01T00:00:00.000Z'
type Pass = { iterations?: number[]; depth?: number; parentId?: string | null }

const ended = (
  id: string,
  blockId: string,
  status: RunSpan['status'],
  { iterations = [], depth = 0, parentId = null }: Pass = {},
): RunEvent => ({
  event: 'block.ended',
  span: {
    ...{ id, name: blockId, type: 'function', blockId, status, startTime, endTime: startTime, duration: 1 },
    ...{ input: {}, output: { id }, children: [] },
  },
  ...{ iterations, depth, parentId },
})

const looped: RunState = [
  ended('s1', 'start', 'success'),
  ended('s3', 'a', 'success', { iterations: [0], parentId: 's2' }),
  ended('s4', 'b', 'success', { iterations: [0], parentId: 's2' }),
  ended('s5', 'a', 'success', { iterations: [1], parentId: 's2' }),
  ended('s6', 'b', 'error', { iterations: [1], parentId: 's2' }),
  ended('s2', 'loop', 'error'),
].reduce(fold, { ...idle, executionId: 'run' })

describe('the shown pass of a block', () => {
  test('is the chosen one, or the one in the same iteration, or the one of its card', () => {
    const chosen = { executionId: 'run', spanId: 's3', iterations: [0] }
    expect(passOf(looped, 'a', chosen)?.spanId).toBe('s3')
    expect(passOf(looped, 'b', chosen)?.spanId).toBe('s4')
    expect(passOf(looped, 'b', undefined)?.spanId).toBe('s6')
    expect(passOf(looped, 'b', { ...chosen, executionId: 'an older run' })?.spanId).toBe('s6')
    expect(passOf(looped, 'start', chosen)?.spanId).toBe('s1')
  })

  test('of a failed run is the innermost failed one', () => {
    const error = { message: 'x', code: 'EXECUTION_FAILED', blockId: 'loop' }
    expect(failedPass({ ...looped, error })?.spanId).toBe('s6')
    expect(failedPass({ ...looped, error: { ...error, blockId: null } })).toBeUndefined()
  })

  test('inside a called workflow stands for the block that called it', () => {
    const called = [
      ended('s2', 'inner', 'success', { depth: 1, parentId: 's1' }),
      ended('s1', 'call', 'success'),
    ].reduce(fold, idle)
    const [, inner] = called.entries
    expect(entryOnCanvas(called.entries, inner!)?.blockId).toBe('call')
  })
})

test('a block that is tried alone changes only its own card', () => {
  const alone = fold({ ...idle, ...triedOn(looped), executionId: 'alone' }, ended('s1', 'b', 'success'))
  expect(alone.blocks.get('b')).toMatchObject({ status: 'success', executions: 1, failures: 0, isAlone: true })
  expect(alone.blocks.get('a')).toEqual(looped.blocks.get('a'))
  expect([entriesOf(alone, 'a'), entriesOf(alone, 'b')]).toEqual([looped.entries, alone.entries])
  // Trying another block keeps the run before.
  expect(triedOn(alone).before).toEqual(alone.before)
})

test('an error names a line or a branch', () => {
  expect(placeOfError('TypeError: no (line 12)')).toEqual({ line: 12, branch: undefined })
  expect(placeOfError('The expression of branch "a b" failed: x.')).toEqual({ line: undefined, branch: 'a b' })
  expect(placeOfError('The request timed out.')).toEqual({ line: undefined, branch: undefined })
})
