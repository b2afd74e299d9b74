import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readCursor, writeCursor } from '../../../src/http/requests/cursor.ts'

const position = fc.array(fc.maxSafeNat(), { minLength: 1, maxLength: 2 })
const scope = fc.record({
  of: fc.string(),
  order: fc.constantFrom('asc' as const, 'desc' as const),
  filters: fc.string(),
})

describe('a cursor', () => {
  test('returns the position that it was created from', () => {
    fc.assert(fc.property(position, scope, (at, of) => expect(readCursor(writeCursor(at, of), of)).toEqual(at)))
  })

  test('is refused with another owner, order or filter', () => {
    fc.assert(
      fc.property(position, scope, scope, (at, made, used) => {
        fc.pre(JSON.stringify(made) !== JSON.stringify(used))
        expect(readCursor(writeCursor(at, made), used)).toBeUndefined()
      }),
    )
    const made = { of: 'w', order: 'asc' as const, filters: '' }
    expect(readCursor(writeCursor([1], made), { ...made, order: 'desc' })).toBeUndefined()
  })

  test('is refused when one of its characters is changed, added or missing', () => {
    fc.assert(
      fc.property(position, scope, fc.nat(), fc.string({ maxLength: 2 }), (at, of, place, text) => {
        const cursor = writeCursor(at, of)
        const cut = place % cursor.length
        const changed = cursor.slice(0, cut) + text + cursor.slice(cut + 1)
        fc.pre(changed !== cursor)
        expect(readCursor(changed, of)).toBeUndefined()
      }),
    )
  })

  test('of any text is refused without an exception', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), scope, (text, of) => expect(readCursor(text, of)).toBeUndefined()),
    )
  })

  test('needs no escaping in a query', () => {
    fc.assert(
      fc.property(position, scope, (at, of) => {
        const cursor = writeCursor(at, of)
        expect(encodeURIComponent(cursor)).toBe(cursor)
      }),
    )
  })
})
