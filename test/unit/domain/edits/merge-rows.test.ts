import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { changesToTheirs } from '../../../../src/domain/edits/merge.ts'
import { sameValue } from '../../../../src/domain/edits/same-value.ts'
import type { Document } from '../../../../src/ui/editor/document/document.ts'
import { applyEdit, type Edit, mergeDrafts, openDocument } from '../../../../src/ui/editor/document/edit.ts'

const call: Document = openDocument({
  name: 'Call',
  blocks: { b1: { id: 'b1', type: 'api', name: 'Call', position: { x: 0, y: 0 }, params: {} } },
  edges: [],
})
const set = (id: string, params: Record<string, unknown>): Edit => ({ kind: 'set', id, params })

describe('a list that both changed', () => {
  type Row = { key: string; value: string; on?: boolean }
  const keys = ['a', 'b', 'c', 'd', 'e', 'f']
  const row = (key: string, value = key): Row => ({ key, value })
  const list = ['a', 'b', 'c'].map((key) => row(key))
  const based = (headers: unknown) => applyEdit(call, set('b1', { headers }))
  const mergedLists = (base: unknown, my: unknown, their: unknown) => {
    const [mine, theirs] = [
      applyEdit(based(base), set('b1', { headers: my })),
      applyEdit(based(base), set('b1', { headers: their })),
    ]
    const { document, conflicts } = mergeDrafts({ base: based(base), mine, theirs })
    const changes = changesToTheirs(conflicts, document, theirs)
    const resolved = applyEdit(document, { kind: 'change', changes }).blocks['b1']?.params?.['headers']
    return { headers: document.blocks['b1']?.params?.['headers'], conflicts, resolved }
  }

  test('has the rows of both, and no conflict', () => {
    const [a, b, c] = list as [Row, Row, Row]
    const { headers, conflicts } = mergedLists(
      list,
      [row('a', 'mine'), b, c, row('m')],
      [a, row('c', 'theirs'), row('t')],
    )
    expect(conflicts).toEqual([])
    expect(headers).toEqual([row('a', 'mine'), row('c', 'theirs'), row('m'), row('t')])
  })

  test('merges different members of one row', () => {
    const off = { ...row('a'), on: false }
    expect(mergedLists(list, [row('a', 'mine'), ...list.slice(1)], [off, ...list.slice(1)])).toMatchObject({
      ...{ conflicts: [], headers: [{ key: 'a', value: 'mine', on: false }, ...list.slice(1)] },
    })
  })

  test('asks only about the rows that contradict, and keeps the others whichever side is chosen', () => {
    const [, b, c] = list as [Row, Row, Row]
    const { headers, conflicts, resolved } = mergedLists(
      list,
      [row('a', 'mine'), row('b', 'x'), c],
      [row('a', 'theirs'), b, row('c', 'y')],
    )
    expect(conflicts.map(({ path }) => path)).toEqual([['blocks', 'b1', 'params', 'headers']])
    expect(headers).toEqual([row('a', 'mine'), row('b', 'x'), row('c', 'y')])
    expect(resolved).toEqual([row('a', 'theirs'), row('b', 'x'), row('c', 'y')])
  })

  test.each([
    ['plain values', ['a'], ['a', 'b'], ['a', 'c']],
    ['a key twice', [row('a'), row('a')], [row('a', '1'), row('a')], [row('a'), row('a', '2')]],
    ['a row without a key', [row('a'), row('')], [row('a', '1'), row('')], [row('a'), row('', '2')]],
    ['two new orders', list, ['b', 'a', 'c'].map((key) => row(key)), ['c', 'a', 'b'].map((key) => row(key))],
  ])('with %s is a conflict as a whole', (_, base, my, their) => {
    const { headers, conflicts, resolved } = mergedLists(base, my, their)
    expect(conflicts.length).toBe(1)
    expect([headers, resolved]).toEqual([my, their])
  })

  const anyList = fc.uniqueArray(fc.record({ key: fc.constantFrom(...keys), value: fc.constantFrom('1', '2', '3') }), {
    selector: ({ key }) => key,
    minLength: 1,
  })

  test('loses no row that only one person changed, and brings back none that was removed', () => {
    fc.assert(
      fc.property(anyList, anyList, anyList, (base, my, their) => {
        const { headers, conflicts, resolved } = mergedLists(base, my, their)
        const find = (rows: unknown, key: string) => (rows as Row[]).find((each) => each.key === key)
        if (conflicts.some(({ isList }) => !isList)) return
        for (const key of keys) {
          const [was, is, will] = [base, my, their].map((rows) => find(rows, key))
          const wanted = sameValue(is, was) ? will : is
          expect(find(headers, key)).toEqual(wanted as Row)
          expect(find(resolved, key)).toEqual((sameValue(will, was) ? is : will) as Row)
        }
        expect(new Set((headers as Row[]).map(({ key }) => key)).size).toBe((headers as Row[]).length)
      }),
    )
  })

  test('keeps the order of the person who changed it', () => {
    fc.assert(
      fc.property(anyList, fc.array(fc.nat({ max: 100 }), { minLength: 6, maxLength: 6 }), (base, weights) => {
        const shuffled = base.toSorted(
          (a, b) => (weights[keys.indexOf(a.key)] ?? 0) - (weights[keys.indexOf(b.key)] ?? 0),
        )
        const changed = base.map((each, at) => (at === 0 ? { ...each, value: 'new' } : each))
        for (const [my, their] of [
          [shuffled, changed],
          [changed, shuffled],
        ]) {
          const { headers, conflicts } = mergedLists(base, my, their)
          expect(conflicts).toEqual([])
          expect((headers as Row[]).map(({ key }) => key)).toEqual(shuffled.map(({ key }) => key))
        }
      }),
    )
  })
})
