import { describe, expect, test } from 'bun:test'
import { readDocument } from '../../../../src/domain/workflow/document.ts'
import { limitsIn } from '../../../../src/domain/workflow/workflow-limits.ts'

const read = (limits: unknown) => readDocument({ name: 'w', blocks: {}, edges: [], limits })
const problem = (limits: unknown) => {
  const reading = read(limits)
  return 'details' in reading ? reading.details.map(({ path, message }) => `${path}: ${message}`) : []
}

describe('the limits in a document', () => {
  test('stay as they are written, without members that are null', () => {
    expect(read({ timeoutMs: 604_800_000 })).toMatchObject({ document: { limits: { timeoutMs: 604_800_000 } } })
    expect(read({ timeoutMs: null })).toMatchObject({ document: { limits: {} }, warnings: [] })
    expect(read(null)).toMatchObject({ warnings: [] })
  })

  test.each([0, -1, 1.5, 604_800_001, '10'])('cannot have the time %p', (timeoutMs) => {
    expect(problem({ timeoutMs })).toEqual([
      expect.stringContaining('limits.timeoutMs must be a whole number from 1 to 604800000 (milliseconds)'),
    ])
  })

  test('are rejected with a member that has no effect', () => {
    expect(problem({ timeout: 5 })).toEqual(['limits.timeout: limits.timeout is not known here.'])
    expect(problem([])).toHaveLength(1)
  })
})

test('a stored member of the same name that is not valid limits nothing', () => {
  expect(limitsIn({ limits: { timeoutMs: 'soon' } })).toEqual({})
  expect(limitsIn({ limits: 'none' })).toEqual({})
  expect(limitsIn({ limits: { timeoutMs: 7 } })).toEqual({ timeoutMs: 7 })
})
