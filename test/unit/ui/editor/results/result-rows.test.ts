import { describe, expect, test } from 'bun:test'
import type { ValueSchema } from '../../../../../src/domain/connector/connector.ts'
import { cellText, resultRows } from '../../../../../src/ui/editor/results/result-rows.ts'

const issue: ValueSchema = {
  type: 'object',
  properties: {
    number: { type: 'integer' },
    user: { type: 'object', properties: { login: { type: 'string' } } },
    labels: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
    closed: { type: 'boolean' },
  },
}
const list: ValueSchema = { type: 'array', items: issue }

describe('a result as its schema describes it', () => {
  test('has a row for each entry, and no column that all rows lack', () => {
    const rows = [
      { number: 1, extra: true },
      { number: 2, closed: false },
    ]
    const result = resultRows(list, rows)
    expect(result).toMatchObject({ isList: true, rows })
    expect(result?.columns.map(({ name }) => name)).toEqual(['number', 'closed'])
  })

  test('is one row when it is an object', () => {
    expect(resultRows(issue, { number: 1 })).toMatchObject({ isList: false, rows: [{ number: 1 }] })
  })

  test('is no table when it has another shape', () => {
    expect(resultRows(list, { error: 'x' })).toBeUndefined()
    expect(resultRows(list, [1, 2])).toBeUndefined()
    expect(resultRows(issue, { other: 1 })).toBeUndefined()
    expect(resultRows({ type: 'string' }, 'x')).toBeUndefined()
    expect(resultRows(issue, { truncated: true, size: 9, preview: '{' })).toBeUndefined()
  })

  test('shows the described members of inner values', () => {
    const { user, labels, closed } = issue.properties!
    expect(cellText({ login: 'ada', id: 5 }, user!)).toBe('ada')
    expect(cellText([{ name: 'bug' }, { name: 'new', color: 'f00' }], labels!)).toBe('bug, new')
    expect(
      cellText(
        Array.from({ length: 11 }, (_, id) => id),
        {},
      ),
    ).toBe('0, 1, 2, 3, 4, 5, 6, 7, 8, 9, …')
    expect(cellText(true, closed!)).toBe('Yes')
    expect(cellText({ a: 1 }, {})).toBe('{"a":1}')
    expect(cellText(null, {})).toBe('')
    expect(cellText('not a time', { format: 'date-time' })).toBe('not a time')
    expect(cellText('x'.repeat(400), {})).toHaveLength(300)
  })
})
