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

  test.each([
    [{ concurrency: 0 }, 'limits.concurrency must be a whole number from 1 to 100000'],
    [{ rate: { count: 1 } }, 'limits.rate.windowMs'],
    [{ rate: { count: 1, windowMs: 5, perMs: 5 } }, 'limits.rate.perMs is not known here.'],
    [{ key: '' }, 'limits.key'],
    [{ beyond: 'drop' }, 'limits.beyond must be "queue", "skip", "refuse" or "replace"'],
    [{ queueMax: -1 }, 'limits.queueMax must be a whole number from 0 to 100000'],
    [{ debounce: {} }, 'limits.debounce.quietMs'],
    [{ priority: 11 }, 'limits.priority must be a whole number from -10 to 10'],
  ])('cannot be %p', (limits, message) => {
    expect(problem(limits)).toEqual([expect.stringContaining(message)])
  })

  test('may all be set', () => {
    const limits = {
      ...{ concurrency: 3, rate: { count: 5, windowMs: 1_000 }, key: '<api.customer>', beyond: 'replace' },
      ...{ queueMax: 0, debounce: { quietMs: 5, maxMs: 9 }, priority: -10, timeoutMs: 1 },
    }
    expect(read(limits)).toMatchObject({ document: { limits }, warnings: [] })
  })

  test('are rejected with an unknown member', () => {
    expect(problem({ timeout: 5 })).toEqual(['limits.timeout: limits.timeout is not known here.'])
    expect(problem([])).toHaveLength(1)
  })
})

test('invalid limits in a stored document are ignored', () => {
  expect(limitsIn({ limits: { timeoutMs: 'soon' } })).toEqual({})
  expect(limitsIn({ limits: 'none' })).toEqual({})
  expect(limitsIn({ limits: { timeoutMs: 7 } })).toEqual({ timeoutMs: 7 })
})
