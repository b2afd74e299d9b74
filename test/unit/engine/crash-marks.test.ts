import { expect, test } from 'bun:test'
import { crashMark, isStuck } from '../../../src/engine/jobs/crash-marks.ts'

const block = JSON.stringify({ place: 'p', block: {} })
const version = JSON.stringify({ place: 'p', version: 1 })
const cost = JSON.stringify({ cost: { total: 1 } })

/** Crashes and resumes a job: each entry lists the steps that it records before the next crash. */
function crashing(runs: readonly (readonly string[])[]) {
  const steps: string[] = []
  let crashes = 0
  for (const recorded of runs) {
    if (isStuck(steps, crashes)) return { stuckAfter: crashes }
    const mark = crashMark(steps, crashes)
    if (mark !== undefined) steps.push(mark)
    steps.push(...recorded)
    crashes += 1
  }
  return { stuckAfter: isStuck(steps, crashes) ? crashes : undefined }
}

test('a job is given up after three crashes without progress', () => {
  expect(crashing([[], []])).toEqual({ stuckAfter: undefined })
  expect(crashing([[], [], []])).toEqual({ stuckAfter: 3 })
  expect(crashing([[block], [], []])).toEqual({ stuckAfter: 3 })
})

test('a crash after a block had ended does not count together with the crashes before', () => {
  expect(crashing(Array(20).fill([block]))).toEqual({ stuckAfter: undefined })
  expect(crashing([[], [], [block], [], [block], [], [block]])).toEqual({ stuckAfter: undefined })
  expect(crashing([[], [], [block], [], [], []])).toEqual({ stuckAfter: 5 })
})

test('costs and versions of sub-workflows are no progress', () => {
  expect(crashing([[cost], [cost, version], [cost]])).toEqual({ stuckAfter: 3 })
})

test('an orderly stop leaves no mark', () => {
  const mark = crashMark([], 1) as string
  expect(crashMark([mark, block], 1)).toBeUndefined()
  expect(crashMark([mark, block], 2)).toBe('{"crashes":2}')
  expect(crashMark([], 0)).toBeUndefined()
})
