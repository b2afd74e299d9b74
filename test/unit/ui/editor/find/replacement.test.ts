import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { registry } from '../../../../../src/blocks/registry.ts'
import { plainSchema } from '../../../../../src/http/openapi/plain-schema.ts'
import type { ParametersSchema } from '../../../../../src/http/routes/editor/blocks.ts'
import type { Document } from '../../../../../src/ui/editor/document/document.ts'
import { applyEdit } from '../../../../../src/ui/editor/document/edit.ts'
import { placesOf } from '../../../../../src/ui/editor/find/places.ts'
import { type ReplacingType, replacementOf } from '../../../../../src/ui/editor/find/replacement.ts'
import { findMatches, type Query } from '../../../../../src/ui/editor/find/search.ts'

const types: ReadonlyMap<string, ReplacingType> = new Map(
  [...registry.values()].map((type) => [
    type.type,
    {
      parameters: plainSchema(type.parameters, {}) as unknown as ParametersSchema,
      branches: type.type === 'condition' ? { list: 'conditions' } : type.type === 'router' ? { list: 'routes' } : null,
      container: null,
      starts: type.starts ?? null,
    },
  ]),
)

const position = { x: 0, y: 0 }
const document: Document = {
  name: 'Orders',
  blocks: {
    late: {
      id: 'late',
      type: 'response',
      name: 'Answer',
      position: { x: 900, y: 0 },
      params: { data: { order: '<order.data.id>', 'x y': 1 }, status: 404 },
    },
    start: {
      id: 'start',
      type: 'api_trigger',
      name: 'Start',
      position,
      params: { inputFormat: [{ name: 'orderId', type: 'string' }] },
    },
    order: {
      id: 'order',
      type: 'api',
      name: 'Order',
      position: { x: 300, y: 0 },
      params: { url: 'https://shop/order?id=<api.orderId>', method: 'GET', timeoutMs: 30_000 },
    },
    code: {
      id: 'code',
      type: 'function',
      name: 'Line total',
      position: { x: 600, y: 0 },
      params: { code: 'const order = <order.data>\nreturn order.total' },
    },
    check: {
      id: 'check',
      type: 'condition',
      name: 'Found?',
      position: { x: 700, y: 0 },
      params: { conditions: [{ id: 'order', expression: '<order.data> !== null' }] },
    },
    each: { id: 'each', type: 'loop', name: 'Each', position: { x: 1200, y: 0 } },
  },
  edges: [{ id: 'e', source: 'check', sourceHandle: 'condition-order', target: 'late' }],
  loops: { each: { loopType: 'forEach', forEachItems: '<order.data.lines>' } },
  notes: { n: { id: 'n', text: 'About the order', position } },
}

function find(text: string, more: Partial<Query> = {}, searched = document) {
  const places = placesOf(searched, types)
  const search = findMatches(
    places.map((place) => place.text),
    { text, isWord: false, isPattern: false, replacement: '', ...more },
  )
  for (;;) {
    const { done, value } = search.next()
    if (done) return { places, matches: value.matches }
  }
}

function replace(text: string, replacement: string, more: Partial<Query> = {}, searched = document) {
  const { places, matches } = find(text, { ...more, replacement }, searched)
  const result = replacementOf(searched, types, places, matches)
  return { ...result, after: result.edit ? applyEdit(searched, result.edit) : searched }
}

test('the search covers names, parameters, code, conditions, settings and notes, from left to right', () => {
  const { places, matches } = find('order')
  const hits = matches.map(({ place }) => `${places[place]!.owner} ${places[place]!.label}`)
  expect(hits).toEqual([
    'start Input format › 1 › Name',
    'order Block name',
    'order URL',
    'order URL',
    ...Array.from({ length: 3 }, () => 'code Code'),
    'check Conditions › 1 › Id',
    'check Conditions › 1 › Expression',
    'late Data › order',
    'late Data › order',
    'each For each items',
    'n Text',
  ])
})

describe('replacing', () => {
  test('a name takes its references along, and says how many', () => {
    const { places, matches } = find('Line total', { replacement: 'Sum of lines' })
    const searched: Document = {
      ...document,
      blocks: { ...document.blocks, late: { ...document.blocks['late']!, params: { data: '<linetotal.result>' } } },
    }
    const result = replacementOf(searched, types, places, matches)
    expect(result).toMatchObject({ replaced: 1, kept: 0, references: 1, broken: 0 })
    expect(applyEdit(searched, result.edit!).blocks['late']?.params).toEqual({ data: '<sumoflines.result>' })
  })

  test('all matches changes names and the references to them alike', () => {
    const { after, replaced, kept, references, broken } = replace('order', 'purchase')
    expect({ replaced, kept, references, broken }).toEqual({ replaced: 12, kept: 1, references: 4, broken: 0 })
    expect(after.blocks['order']).toMatchObject({
      name: 'purchase',
      params: { url: 'https://shop/purchase?id=<api.purchaseId>', method: 'GET', timeoutMs: 30_000 },
    })
    expect(after.blocks['code']?.params?.['code']).toBe('const purchase = <purchase.data>\nreturn purchase.total')
    expect(after.blocks['late']?.params?.['data']).toEqual({ purchase: '<purchase.data.id>', 'x y': 1 })
    expect(after.loops?.['each']?.forEachItems).toBe('<purchase.data.lines>')
    expect(after.notes?.['n']?.text).toBe('About the purchase')
    expect(after.edges).toEqual(document.edges)
  })

  test('part of a name rewrites references once', () => {
    const { after, broken } = replace('o', 'oo')
    expect(broken).toBe(0)
    expect(after.blocks['order']?.name).toBe('oorder')
    expect(after.blocks['code']?.params?.['code']).toStartWith('coonst oorder = <oorder.data>')
  })

  test('says when a reference would lead nowhere', () => {
    expect(replace('<order.', '<nothing.')).toMatchObject({ replaced: 4, references: 4, broken: 4 })
  })

  test('gives no two blocks the same name', () => {
    const { problem, edit, after } = replace('order', 'line total', { isWord: true })
    expect(problem?.toLowerCase()).toContain('“line total”')
    expect([edit, after]).toEqual([undefined, document])
  })

  test('lets two blocks exchange their names', () => {
    const searched: Document = {
      name: 'Swap',
      blocks: {
        a: { id: 'a', type: 'function', name: 'ab', position, params: { code: '<ba.result>' } },
        b: { id: 'b', type: 'function', name: 'ba', position: { x: 300, y: 0 }, params: { code: '<ab.result>' } },
      },
      edges: [],
    }
    const { after } = replace('^(a|b)(a|b)$', '$2$1', { isPattern: true }, searched)
    expect(Object.values(after.blocks).map(({ name, params }) => [name, params?.['code']])).toEqual([
      ['ba', '<ab.result>'],
      ['ab', '<ba.result>'],
    ])
  })

  test('keeps the names of branches, choices from lists, and what would be no number', () => {
    expect(replace('GET', 'FETCH')).toMatchObject({ replaced: 0, kept: 1 })
    expect(replace('404', 'four')).toMatchObject({ replaced: 0, kept: 1 })
    expect(replace('404', '410').after.blocks['late']?.params?.['status']).toBe(410)
  })

  test('never leaves a reference to a renamed block behind', () => {
    const letters = fc.string({ unit: fc.constantFrom('o', 'r', 'd', 'e', 'x'), minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(letters, letters, (text, replacement) => {
        const { after, broken, problem } = replace(text, replacement)
        if (problem !== undefined || broken > 0) return
        const name = after.blocks['order']!.name.toLowerCase()
        expect(String(after.blocks['code']?.params?.['code'])).toContain(`<${name}.`)
        expect(String(after.loops?.['each']?.forEachItems).toLowerCase()).toStartWith(`<${name}.`)
      }),
    )
  })
})

test('a replacement in 2,000 blocks takes about as long per block as one in 200', () => {
  const large = (count: number): Document => ({
    ...document,
    blocks: Object.fromEntries(
      Array.from({ length: count }, (_, at) => [
        `b${at}`,
        {
          id: `b${at}`,
          type: 'function',
          name: `Step ${at}`,
          position: { x: at, y: 0 },
          params: { code: `return <step${at - 1}.result>` },
        },
      ]),
    ),
    notes: {},
    loops: {},
  })
  const time = (count: number) => {
    const searched = large(count)
    const started = performance.now()
    expect(replace('step', 'stage', {}, searched)).toMatchObject({ replaced: 2 * count, broken: 0 })
    return (performance.now() - started) / count
  }
  time(200)
  expect(time(2_000)).toBeLessThan(6 * time(200))
})
