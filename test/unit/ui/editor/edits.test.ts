import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Block, Document } from '../../../../src/ui/editor/document/document.ts'
import { applyEdit, type Edit, openDocument } from '../../../../src/ui/editor/document/edit.ts'
import { fragmentText, freshFragment, readFragment, takeFragment } from '../../../../src/ui/editor/document/fragment.ts'
import { perform, redo, seal, startHistory, undo } from '../../../../src/ui/editor/save/history.ts'
import { anyEdit, anyId, assertSound, empty } from '../../../support/ui/any-edit.ts'

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
