import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { applyChanges, changesBetween, inverseOf } from '../../../../src/domain/edits/change.ts'
import { changesToTheirs, merge } from '../../../../src/domain/edits/merge.ts'
import { sameValue } from '../../../../src/domain/edits/same-value.ts'
import type { Block, Document, Edge } from '../../../../src/ui/editor/document/document.ts'
import { applyEdit, type Edit, mergeDrafts, openDocument } from '../../../../src/ui/editor/document/edit.ts'
import { anyEdit, anyPoint, assertSound, empty, ids } from '../../../support/ui/any-edit.ts'

const anyEdits = (most: number) => fc.array(anyEdit, { maxLength: most })
const made = (document: Document, edits: readonly Edit[]) => edits.reduce(applyEdit, document)

/** The values of a document, whatever the order of its lines and the lists of its containers. */
function valuesOf({ edges, loops, parallels, notes = {}, ...rest }: Document) {
  const settings = [loops, parallels].map((entries = {}) =>
    Object.entries(entries).map(([id, entry]) => [id, { ...entry, nodes: entry.nodes?.toSorted() }] as const),
  )
  return {
    ...{ ...rest, notes },
    edges: edges.map(({ source, sourceHandle, target }) => JSON.stringify([source, sourceHandle, target])).toSorted(),
    containers: Object.fromEntries(settings.flat()),
  }
}
const same = (a: Document, b: Document) => sameValue(valuesOf(a), valuesOf(b))

/** Twelve connected blocks: the first half belongs to one person, the second half to the other. */
const wide: Document = openDocument({
  name: 'Wide',
  blocks: Object.fromEntries(
    ids.map((id, at): [string, Block] => [
      id,
      { id, type: 'function', name: `Step ${at}`, position: { x: 300 * at, y: 0 }, params: { code: '1' } },
    ]),
  ),
  edges: ids.slice(1).map((id, at): Edge => ({ id: `e${at}`, source: ids[at]!, target: id, sourceHandle: 'source' })),
})

/** Edits that touch only some blocks. */
function editsOf(own: readonly string[]): fc.Arbitrary<Edit[]> {
  const id = fc.constantFrom(...own)
  const name = own[0]!
  return fc.array(
    fc.oneof<fc.Arbitrary<Edit>[]>(
      fc.record({ kind: fc.constant('move'), to: fc.dictionary(id, anyPoint, { maxKeys: 3 }) }),
      fc.record({ kind: fc.constant('set'), id, params: fc.record({ code: fc.string(), timeout: fc.integer() }) }),
      fc.record({ kind: fc.constant('enable'), ids: fc.array(id, { maxLength: 3 }), enabled: fc.boolean() }),
      fc.record({
        kind: fc.constant('remove'),
        edges: fc.array(fc.constant(`e${own[1]!.slice(1)}`), { maxLength: 1 }),
      }),
      fc.record({
        kind: fc.constant('note'),
        note: fc.record({ id: fc.constant(`note ${name}`), text: fc.string(), position: anyPoint }),
      }),
    ),
    { maxLength: 12 },
  )
}
const [mineIds, theirIds] = [ids.slice(0, 6), ids.slice(6)]

describe('the changes between two documents', () => {
  test('lead from one to the other and back', () => {
    fc.assert(
      fc.property(anyEdits(30), anyEdits(20), (first, second) => {
        const before = made(empty, first)
        const after = made(before, second)
        const changes = changesBetween(before, after)
        const forth = applyEdit(before, { kind: 'change', changes })
        expect(valuesOf(forth)).toEqual(valuesOf(after))
        expect(same(applyEdit(forth, { kind: 'change', changes: inverseOf(changes) }), before)).toBe(true)
      }),
    )
  })

  test('keep the identity of everything that they do not touch', () => {
    const changes = changesBetween(wide, applyEdit(wide, { kind: 'set', id: 'b3', params: { code: '2' } }))
    expect(changes).toEqual([{ path: ['blocks', 'b3', 'params', 'code'], before: '1', after: '2' }])
    const next = applyChanges(wide, changes)
    expect(next.blocks['b4']).toBe(wide.blocks['b4']!)
    expect(next.edges).toBe(wide.edges)
  })

  test('inside something that is gone change nothing', () => {
    const changes = [{ path: ['blocks', 'gone', 'params', 'code'], before: '1', after: '2' }]
    expect(sameValue(applyChanges(wide, changes), wide)).toBe(true)
  })
})

describe('a merge', () => {
  test('contains the edits of both when they edit different blocks, in either order of saving', () => {
    fc.assert(
      fc.property(editsOf(mineIds), editsOf(theirIds), (my, their) => {
        const [mine, theirs] = [made(wide, my), made(wide, their)]
        const merged = mergeDrafts({ base: wide, mine, theirs })
        expect(merged.conflicts).toEqual([])
        expect(valuesOf(merged.document)).toEqual(valuesOf(made(mine, their)))
        const other = mergeDrafts({ base: wide, mine: theirs, theirs: mine })
        expect(valuesOf(other.document)).toEqual(valuesOf(merged.document))
      }),
    )
  })

  test('is always a valid document', () => {
    fc.assert(
      fc.property(anyEdits(30), anyEdits(15), anyEdits(15), (first, my, their) => {
        const base = made(empty, first)
        assertSound(mergeDrafts({ base, mine: made(base, my), theirs: made(base, their) }).document)
      }),
      { numRuns: 300 },
    )
  })

  test('with somebody who changed nothing is the other document', () => {
    fc.assert(
      fc.property(anyEdits(30), anyEdits(15), (first, second) => {
        const base = made(empty, first)
        const changed = made(base, second)
        expect(mergeDrafts({ base, mine: changed, theirs: base })).toEqual({ document: changed, conflicts: [] })
        const { document, conflicts } = mergeDrafts({ base, mine: base, theirs: changed })
        expect(conflicts).toEqual([])
        expect(valuesOf(document)).toEqual(valuesOf(changed))
      }),
    )
  })

  test('of the same changes has no conflict', () => {
    fc.assert(
      fc.property(anyEdits(30), anyEdits(15), (first, second) => {
        const base = made(empty, first)
        const [mine, theirs] = [made(base, second), structuredClone(made(base, second))]
        const { document, conflicts } = mergeDrafts({ base, mine, theirs })
        expect(conflicts).toEqual([])
        expect(valuesOf(document)).toEqual(valuesOf(mine))
      }),
    )
  })
})

const set = (id: string, params: Record<string, unknown>): Edit => ({ kind: 'set', id, params })
const merged = (my: readonly Edit[], their: readonly Edit[]) => {
  const [mine, theirs] = [made(wide, my), made(wide, their)]
  return { theirs, ...mergeDrafts({ base: wide, mine, theirs }) }
}

describe('two changes of the same value', () => {
  test('are one conflict with both values, and leave mine in place', () => {
    const { document, conflicts } = merged([set('b1', { code: 'mine', a: 1 })], [set('b1', { code: 'theirs', b: 2 })])
    expect(conflicts).toEqual([{ path: ['blocks', 'b1', 'params', 'code'], base: '1', mine: 'mine', theirs: 'theirs' }])
    expect(document.blocks['b1']?.params).toEqual({ code: 'mine', a: 1, b: 2 })
  })

  test('become theirs when their side is chosen', () => {
    const { document, conflicts, theirs } = merged([set('b1', { code: 'mine' })], [set('b1', { code: 'theirs' })])
    const changes = changesToTheirs(conflicts, document, theirs)
    expect(applyEdit(document, { kind: 'change', changes }).blocks['b1']?.params).toEqual({ code: 'theirs' })
  })

  test('are no conflict when they are positions', () => {
    const move = (x: number): Edit => ({ kind: 'move', to: { b1: { x, y: 7 } } })
    const { document, conflicts } = merged([move(1)], [move(2)])
    expect([conflicts, document.blocks['b1']?.position]).toEqual([[], { x: 1, y: 7 }])
  })
})

describe('a block that one person removed and the other changed', () => {
  const remove: Edit = { kind: 'remove', blocks: ['b1'] }

  test('stays with its lines when it is mine, and goes when their side is chosen', () => {
    const { document, conflicts, theirs } = merged([set('b1', { code: 'mine' })], [remove])
    expect(conflicts.map(({ path, theirs }) => [path, theirs])).toEqual([[['blocks', 'b1'], undefined]])
    expect(document.edges.filter(({ source, target }) => source === 'b1' || target === 'b1').length).toBe(2)
    const next = applyEdit(document, { kind: 'change', changes: changesToTheirs(conflicts, document, theirs) })
    expect(next.blocks['b1']).toBeUndefined()
    assertSound(next)
  })

  test('comes back with its lines when their side is chosen', () => {
    const { document, conflicts, theirs } = merged([remove], [set('b1', { code: 'theirs' })])
    expect(conflicts.map(({ path, mine }) => [path, mine])).toEqual([[['blocks', 'b1'], undefined]])
    const next = applyEdit(document, { kind: 'change', changes: changesToTheirs(conflicts, document, theirs) })
    expect(next.blocks['b1']?.params).toEqual({ code: 'theirs' })
    expect(next.edges.filter(({ source, target }) => source === 'b1' || target === 'b1').length).toBe(2)
    assertSound(next)
  })

  test('is removed when the other person only moved it', () => {
    const { document, conflicts } = merged([{ kind: 'move', to: { b1: { x: 1, y: 1 } } }], [remove])
    expect([conflicts, document.blocks['b1']]).toEqual([[], undefined])
  })
})

describe('names in a merge', () => {
  const added = (id: string, name: string): Edit => ({
    kind: 'add',
    block: { id, type: 'function', name, params: { code: `<${name}.result>` } },
    edgeId: id,
  })

  test('are different for two new blocks with the same name, and references follow', () => {
    const { document } = merged([added('m', 'New'), set('b1', { code: '<new.x>' })], [added('t', 'New')])
    expect([document.blocks['m']?.name, document.blocks['t']?.name]).toEqual(['New 2', 'New'])
    expect(document.blocks['b1']?.params).toEqual({ code: '<new2.x>' })
    expect(document.blocks['t']?.params).toEqual({ code: '<New.result>' })
  })

  test('of renamed blocks are followed by references that the other person wrote meanwhile', () => {
    const rename: Edit = { kind: 'rename', id: 'b0', name: 'Load' }
    const reference = set('b5', { code: 'use(<step0.result>)' })
    for (const [my, their] of [
      [[rename], [reference]],
      [[reference], [rename]],
    ] as const) {
      const { document, conflicts } = merged(my, their)
      expect([conflicts, document.blocks['b5']?.params]).toEqual([[], { code: 'use(<load.result>)' }])
    }
  })

  test('that both changed are a conflict', () => {
    const { document, conflicts } = merged(
      [{ kind: 'rename', id: 'b0', name: 'Mine' }],
      [{ kind: 'rename', id: 'b0', name: 'Theirs' }],
    )
    expect(conflicts).toMatchObject([{ path: ['blocks', 'b0', 'name'], mine: 'Mine', theirs: 'Theirs' }])
    expect(document.blocks['b0']?.name).toBe('Mine')
  })
})

test('two lines that would close a cycle together are not both kept', () => {
  const cut = applyEdit(wide, { kind: 'remove', edges: wide.edges.flatMap(({ id }) => id ?? []) })
  const line = (source: string, target: string): Edit => ({
    ...{ kind: 'connect', id: `${source}${target}`, source, sourceHandle: 'source', target },
  })
  const { document } = mergeDrafts({
    base: cut,
    mine: made(cut, [line('b0', 'b1')]),
    theirs: made(cut, [line('b1', 'b0'), line('b2', 'b3')]),
  })
  expect(document.edges.map(({ source, target }) => `${source}${target}`)).toEqual(['b0b1', 'b2b3'])
})

test('a large workflow is merged in milliseconds', () => {
  const blocks = Object.fromEntries(
    Array.from({ length: 2_000 }, (_, at): [string, Block] => [
      `b${at}`,
      {
        id: `b${at}`,
        type: 'function',
        name: `Step ${at}`,
        position: { x: at, y: 0 },
        params: { code: `<step${at}.x>` },
      },
    ]),
  )
  const base = openDocument({ name: 'Large', blocks, edges: [] })
  const rename = (id: string): Edit => ({ kind: 'rename', id, name: `Renamed ${id}` })
  const [mine, theirs] = [made(base, [rename('b1')]), structuredClone(made(base, [rename('b2')]))]
  const began = performance.now()
  expect(mergeDrafts({ base, mine, theirs }).conflicts).toEqual([])
  // A comparison of every block with every other one takes seconds.
  expect(performance.now() - began).toBeLessThan(1_000)
})

test('the ID of a block may be the name of a member that all objects have', () => {
  type Made = { id: string; name: string; code?: number }
  const documentOf = (blocks: Made[], lines: [string, string][] = []) => ({
    name: 'w',
    blocks: Object.fromEntries(
      blocks.map(({ id, name, code = 0 }) => [id, { id, name, type: 'function', params: { code } }]),
    ),
    edges: lines.map(([source, target]) => ({ source, target })),
  })
  const merges = (id: string) => {
    const [start, block] = [
      { id: 'start', name: 'Start' },
      { id, name: 'A' },
    ]
    const without = documentOf([start])
    const whole = documentOf([start, block], [['start', id]])
    const changed = documentOf([start, { ...block, code: 1 }], [['start', id]])
    const renamed = documentOf([start, { id, name: 'B' }], [['start', id]])
    const added = documentOf([start, { id: 'new', name: 'A' }], [['start', 'new']])
    const sides = [
      { base: without, mine: whole, theirs: renamed },
      { base: without, mine: whole, theirs: added },
      { base: whole, mine: changed, theirs: without },
      { base: whole, mine: without, theirs: changed },
      { base: whole, mine: without, theirs: renamed },
    ]
    const results = sides.map((side) => {
      const merged = merge(side)
      return { merged, theirs: changesToTheirs(merged.conflicts, side.mine, side.theirs) }
    })
    return JSON.stringify(results).replaceAll(id, 'ID')
  }
  for (const id of ['constructor', 'toString', 'hasOwnProperty', '__proto__']) expect(merges(id)).toBe(merges('plain'))
})
