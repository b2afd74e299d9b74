import { describe, expect, test } from 'bun:test'
import { boundedDetails, problemsError, problemsMax } from '../../../src/domain/errors.ts'
import { errorBody } from '../../../src/http/errors.ts'

const problems = (count: number) => Array.from({ length: count }, (_, n) => ({ path: `p${n}`, message: `Wrong ${n}.` }))

describe('an error about many problems', () => {
  test('lists the first ones and counts the others, also in the response', () => {
    const error = problemsError('INVALID_INPUT', problems(5_000))
    expect(error.details).toHaveLength(problemsMax + 1)
    expect(error.details?.at(-1)).toEqual({ path: '', message: 'And 4980 more.' })
    expect(errorBody(error).details).toEqual([...error.details!])
    expect(error.message).toEndWith('Wrong 19. And 4980 more.')
  })

  test('keeps a short list as it is', () => {
    expect(boundedDetails(problems(problemsMax))).toEqual(problems(problemsMax))
  })

  test('cuts texts that callers chose', () => {
    const [detail] = boundedDetails([{ path: 'x'.repeat(1_000_000), message: 'y'.repeat(1_000_000) }])
    expect(JSON.stringify(detail).length).toBeLessThan(1_000)
  })
})
