import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  type Block,
  childrenOf,
  type Document,
  isContainer,
  normaliseName,
  portsOf,
} from '../../../src/ui/editor/document/document.ts'
import { applyEdit, type Edit, openDocument } from '../../../src/ui/editor/document/edit.ts'
import { fragmentText, freshFragment, readFragment, takeFragment } from '../../../src/ui/editor/document/fragment.ts'
import { perform, redo, seal, startHistory, undo } from '../../../src/ui/editor/save/history.ts'

const empty: Document = { name: 'Test', blocks: {}, edges: [] }
const types = ['api_trigger', 'api', 'function', 'condition', 'loop', 'parallel', 'response'] as const
const ids = Array.from({ length: 12 }, (_, at) => `b${at}`)

const anyId = fc.constantFrom(...ids)
const anyPoint = fc.record({ x: fc.integer({ min: -500, max: 500 }), y: fc.integer({ min: -500, max: 500 }) })
const anyHandle = fc.constantFrom(
  'source',
  'error',
  'condition-a',
  'condition-else',
  'loop-start-source',
  'loop-end-source',
)
const anyName = fc.constantFrom('API', 'api 2', 'Fetch', 'A B', 'ab', 'x.y', '')
const anyParams = fc.oneof(
  fc.record({ conditions: fc.array(fc.record({ id: fc.constantFrom('a', 'b') }), { maxLength: 2 }) }),
  fc.record({ url: fc.constantFrom('https://x/<api.data>', '<fetch.data>', 'plain', undefined) }),
)

/** Any edit, including edits that do not apply to the document. */
const anyEdit: fc.Arbitrary<Edit> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('add' as const),
      block: fc
        .record({
          id: anyId,
          type: fc.constantFrom(...types),
          name: fc.constantFrom('API', 'Fetch', 'Step'),
          position: anyPoint,
        })
        .map((block): Block => ({ ...block, enabled: true, params: {} })),
      edgeId: fc.uuid(),
      from: fc.record({ source: anyId, sourceHandle: anyHandle }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('connect' as const),
      id: fc.uuid(),
      source: anyId,
      sourceHandle: anyHandle,
      target: anyId,
    }),
  },
  fc.record({ kind: fc.constant('move' as const), to: fc.dictionary(anyId, anyPoint, { maxKeys: 3 }) }),
  fc.record({
    kind: fc.constant('nest' as const),
    parentId: fc.option(anyId),
    to: fc.dictionary(anyId, anyPoint, { maxKeys: 3 }),
  }),
  fc.record({ kind: fc.constant('remove' as const), blocks: fc.array(anyId, { maxLength: 2 }) }),
  fc.record({ kind: fc.constant('rename' as const), id: anyId, name: anyName }),
  fc.record({ kind: fc.constant('set' as const), id: anyId, params: anyParams }),
  fc.record({ kind: fc.constant('enable' as const), ids: fc.array(anyId, { maxLength: 3 }), enabled: fc.boolean() }),
  fc.record({
    kind: fc.constant('note' as const),
    note: fc.record({ id: fc.constantFrom('n1', 'n2'), text: fc.string(), position: anyPoint }),
  }),
)

/** Asserts the invariants of every document that the editor produces. */
function assertSound(document: Document): void {
  const blocks = Object.values(document.blocks)
  const names = blocks.map(({ name }) => normaliseName(name))
  expect(new Set(names).size).toBe(names.length)
  for (const [id, block] of Object.entries(document.blocks)) {
    expect(block.id).toBe(id)
    if (block.parentId) expect(isContainer(document.blocks[block.parentId]!)).toBe(true)
    const list = block.type === 'loop' ? document.loops : block.type === 'parallel' ? document.parallels : undefined
    if (list)
      expect(list[id]?.nodes?.toSorted()).toEqual(
        childrenOf(document, id)
          .map((child) => child.id)
          .toSorted(),
      )
    // No container is inside itself, directly or indirectly.
    const around = new Set<string>()
    for (let at = block.parentId; at; at = document.blocks[at]?.parentId) {
      expect(around.has(at)).toBe(false)
      around.add(at)
    }
  }
  expect(Object.keys({ ...document.loops, ...document.parallels }).toSorted()).toEqual(
    blocks
      .filter(isContainer)
      .map(({ id }) => id)
      .toSorted(),
  )
  const edgeIds = document.edges.map(({ id }) => id)
  expect(new Set(edgeIds).size).toBe(edgeIds.length)
  for (const { source, target, sourceHandle } of document.edges) {
    const [from, to] = [document.blocks[source], document.blocks[target]]
    expect(from && to).toBeTruthy()
    expect(portsOf(from!).map(({ handle }) => handle)).toContain(sourceHandle ?? 'source')
    expect(to!.type).not.toBe('api_trigger')
    if (to!.parentId !== source) expect(to!.parentId ?? null).toBe(from!.parentId ?? null)
  }
  expect(hasCircle(document)).toBe(false)
}

function hasCircle({ edges, blocks }: Document): boolean {
  const state = new Map<string, 'open' | 'done'>()
  const visit = (id: string): boolean => {
    if (state.get(id) === 'open') return true
    if (state.get(id) === 'done') return false
    state.set(id, 'open')
    const found = edges.some(({ source, target }) => source === id && visit(target))
    state.set(id, 'done')
    return found
  }
  return Object.keys(blocks).some(visit)
}

/** Undefined and missing members are the same on the wire. */
const asSent = (document: Document) => JSON.stringify(document)

describe('edits of a document', () => {
  test('keep every document valid, in any order', () => {
    fc.assert(
      fc.property(fc.array(anyEdit, { minLength: 15, maxLength: 60 }), (edits) => {
        assertSound(edits.reduce(applyEdit, empty))
      }),
      { numRuns: 300 },
    )
  })

  test('never mutate the document they are given', () => {
    fc.assert(
      fc.property(fc.array(anyEdit, { minLength: 10, maxLength: 30 }), anyEdit, (edits, last) => {
        const document = edits.reduce(applyEdit, empty)
        const before = asSent(document)
        applyEdit(document, last)
        expect(asSent(document)).toBe(before)
      }),
    )
  })

  test('can all be undone and redone exactly', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(anyEdit, fc.constantFrom('a', 'b', undefined)), { minLength: 10, maxLength: 40 }),
        (steps) => {
          let history = startHistory(empty)
          const states = [asSent(empty)]
          for (const [edit, merge] of steps) {
            const next = perform(history, [edit], merge)
            if (next === history) continue
            if (next.past.length === history.past.length) states.pop()
            states.push(asSent(next.present))
            history = next
          }
          for (const state of states.toReversed()) {
            expect(asSent(history.present)).toBe(state)
            history = undo(history)
          }
          expect(undo(history)).toBe(history)
          for (const state of states) {
            expect(asSent(history.present)).toBe(state)
            history = redo(history)
          }
          expect(redo(history)).toBe(history)
        },
      ),
    )
  })

  test('with the same merge key form one step until sealed', () => {
    const block: Block = { id: 'a', type: 'api', name: 'API', params: {} }
    const typed = (url: string): Edit => ({ kind: 'set', id: 'a', params: { url } })
    let history = perform(startHistory(empty), [{ kind: 'add', block, edgeId: 'e' }])
    for (const url of ['h', 'ht', 'htt']) history = perform(history, [typed(url)], 'url')
    history = perform(seal(history), [typed('http')], 'url')
    expect(undo(history).present.blocks['a']?.params).toEqual({ url: 'htt' })
    expect(undo(undo(history)).present.blocks['a']?.params).toEqual({})
  })
})

describe('renaming a block', () => {
  const document = openDocument({
    name: 'Test',
    blocks: {
      a: { id: 'a', type: 'api', name: 'Get Quotes' },
      b: {
        id: 'b',
        type: 'function',
        name: 'Pick',
        params: {
          code: 'return <getquotes.data>[0] ?? <Get Quotes.status> + "<other.x>" + (a <getquotes)',
          deep: { list: ['<getquotes.data.items[0]>', 7, null] },
        },
      },
      l: { id: 'l', type: 'loop', name: 'Each' },
    },
    edges: [],
    loops: { l: { loopType: 'forEach', forEachItems: '<getquotes.data>' } },
  })

  test('updates all references to it and nothing else', () => {
    const { blocks, loops } = applyEdit(document, { kind: 'rename', id: 'a', name: 'Fetch All' })
    expect(blocks['b']?.params).toEqual({
      code: 'return <fetchall.data>[0] ?? <fetchall.status> + "<other.x>" + (a <getquotes)',
      deep: { list: ['<fetchall.data.items[0]>', 7, null] },
    })
    expect(loops?.['l']?.forEachItems).toBe('<fetchall.data>')
  })

  test('is rejected when another block has the name', () => {
    expect(applyEdit(document, { kind: 'rename', id: 'a', name: ' p ick' })).toBe(document)
  })
})

describe('copied blocks', () => {
  let next = 0
  const newId = () => `new${next++}`

  test('are plain text, and get ids, names and references of their own', () => {
    const source = openDocument({
      name: 'Test',
      blocks: {
        t: { id: 't', type: 'api_trigger', name: 'Start' },
        a: { id: 'a', type: 'api', name: 'API', position: { x: 10, y: 20 } },
        b: { id: 'b', type: 'response', name: 'Answer', params: { data: '<api.data>' } },
      },
      edges: [
        { source: 't', target: 'a' },
        { source: 'a', target: 'b' },
      ],
    })
    const fragment = readFragment(fragmentText(takeFragment(source, ['t', 'a', 'b'])))!
    const pasted = applyEdit(source, {
      kind: 'insert',
      fragment: freshFragment(fragment, source, { newId, by: { x: 40, y: 40 } }),
    })
    assertSound(pasted)
    const names = Object.values(pasted.blocks).map(({ name }) => name)
    // A workflow has one trigger of each type, so the copied trigger is skipped.
    expect(names).toEqual(['Start', 'API', 'Answer', 'API 2', 'Answer 2'])
    const copy = Object.values(pasted.blocks).find(({ name }) => name === 'Answer 2')
    expect(copy?.params).toEqual({ data: '<api2.data>' })
    expect(Object.values(pasted.blocks).find(({ name }) => name === 'API 2')?.position).toEqual({ x: 50, y: 60 })
    expect(pasted.edges.length).toBe(3)
  })

  test('include the contents of a container', () => {
    fc.assert(
      fc.property(
        fc.array(anyEdit, { minLength: 15, maxLength: 40 }),
        fc.array(anyId, { maxLength: 4 }),
        (edits, chosen) => {
          const document = edits.reduce(applyEdit, empty)
          const fragment = freshFragment(takeFragment(document, chosen), document, { newId, by: { x: 1, y: 1 } })
          const pasted = applyEdit(document, { kind: 'insert', fragment })
          assertSound(pasted)
          expect(pasted.edges.length).toBeGreaterThanOrEqual(document.edges.length)
        },
      ),
    )
  })

  test('are distinguished from other text', () => {
    for (const text of ['', 'hello', '[]', '{}', '{"blocks":[]}', 'null', '{"blocks":{"a":7},"edges":7}']) {
      expect(readFragment(text)).toBeUndefined()
    }
  })
})

test('deleting a block between two others connects its neighbours', () => {
  const document = openDocument({
    name: 'Test',
    blocks: {
      a: { id: 'a', type: 'api_trigger', name: 'A' },
      b: { id: 'b', type: 'api', name: 'B' },
      c: { id: 'c', type: 'api', name: 'C' },
    },
    edges: [
      { source: 'a', target: 'b' },
      { source: 'b', target: 'c' },
    ],
  })
  const { edges } = applyEdit(document, { kind: 'remove', blocks: ['b'] })
  expect(edges.map(({ source, target }) => `${source} > ${target}`)).toEqual(['a > c'])
})
