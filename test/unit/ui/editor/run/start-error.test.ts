import { describe, expect, test } from 'bun:test'
import { ApiError } from '../../../../../src/ui/api/api-error.ts'
import { startErrorOf } from '../../../../../src/ui/editor/run/start-error.ts'

const blocks = {
  kQ3: { id: 'kQ3', type: 'api', name: 'Fetch' },
  b2: { id: 'b2', type: 'function', name: 'Say "hello"' },
}
const row = (id: keyof typeof blocks, message: string, warning = '') => {
  const { name } = blocks[id]
  return { path: `blocks.${id}.params`, message: `${warning}In block "${name}" (${id}): ${message}` }
}
const startErrorFor = (
  details: ApiError['details'],
  message = 'The workflow cannot be run: … (and 5 more, see details)',
) => startErrorOf(new ApiError(400, 'INVALID_INPUT', message, details), { blocks })

describe('a run that cannot start', () => {
  test('names blocks by name and leads to each', () => {
    const { text, problems, more } = startErrorFor([row('kQ3', 'The "url" is missing.'), row('b2', 'No code.')])
    expect(text).toBe('The workflow cannot run: 2 problems.')
    expect(problems).toEqual([
      { text: 'Fetch: The "url" is missing.', blockId: 'kQ3' },
      { text: 'Say "hello": No code.', blockId: 'b2' },
    ])
    expect(more).toBe(0)
  })

  test('lists the first problems and the number of others, without warnings', () => {
    const many = Array.from({ length: 6 }, (_, at) => row('kQ3', `Problem ${at}.`))
    const { problems, more } = startErrorFor([...many, row('b2', 'It is old.', 'Warning: ')])
    expect([problems.length, more]).toEqual([4, 2])
    expect(JSON.stringify(problems)).not.toContain('Warning')
  })

  test('with one problem shows only that problem', () => {
    expect(startErrorFor([row('b2', 'No code.'), row('kQ3', 'It is old.', 'Warning: ')])).toEqual({
      text: 'The workflow cannot run.',
      problems: [{ text: 'Say "hello": No code.', blockId: 'b2' }],
      more: 0,
    })
    const days = { path: 'input.days', message: '"days" must be a number.' }
    expect(startErrorFor([days], days.message)).toEqual({ text: days.message, problems: [], more: 0 })
    expect(startErrorOf(new Error('Out of reach'), { blocks }).text).toBe('Out of reach')
  })
})
