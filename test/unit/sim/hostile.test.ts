import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readDocument } from '../../../src/domain/workflow/document.ts'
import { exportSim } from '../../../src/sim/export/export-sim.ts'
import { importSim } from '../../../src/sim/import/import-sim.ts'
import { simFiles } from '../../support/sim/generate.ts'

/** The result is a document that can be saved, or says why there is none. */
function outcomeOf(file: unknown): 'imported' | 'refused' {
  const result = importSim(file)
  if ('details' in result) {
    expect(result.details.length).toBeGreaterThan(0)
    for (const { message } of result.details) expect(message).not.toBe('')
    return 'refused'
  }
  expect(readDocument(JSON.parse(JSON.stringify(result.document)))).toHaveProperty('document')
  expect(importSim(exportSim(result.document, '2026-11-28T00:00:00Z'))).toHaveProperty('document')
  return 'imported'
}

const strange = fc.oneof(
  fc.constantFrom<unknown>('__proto__', 'constructor', 'toString', null, -1, 1e300, '', [], {}, true, 'loop', 'error'),
  fc.jsonValue({ maxDepth: 2 }),
)

/** A value in which some members have other values, and some have the names of other members. */
function damaged(value: unknown, damage: readonly { at: number; by: unknown }[]): unknown {
  let position = 0
  const visit = (each: unknown): unknown => {
    position += 1
    const found = damage.find(({ at }) => at === position)
    if (found) return found.by
    if (Array.isArray(each)) return each.map(visit)
    if (typeof each !== 'object' || each === null) return each
    return Object.fromEntries(Object.entries(each).map(([name, member]) => [name, visit(member)]))
  }
  return visit(value)
}

describe('a hostile file', () => {
  test('of any values is imported or refused, and never breaks the import', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => void outcomeOf(value)),
      { numRuns: 300 },
    )
  })

  test('with wrong types anywhere is imported or refused, and never breaks the import', () => {
    const damage = fc.array(fc.record({ at: fc.integer({ min: 3, max: 120 }), by: strange }), { maxLength: 6 })
    fc.assert(
      fc.property(simFiles, damage, (file, places) => void outcomeOf(damaged(file, places))),
      { numRuns: 500 },
    )
  }, 60_000)

  test('with members that JavaScript treats specially changes no prototype', () => {
    const text =
      '{"state":{"blocks":{"__proto__":{"type":"agent","name":"constructor","subBlocks":{"__proto__":{"value":"x"},' +
      '"model":{"value":"toString"}}},"constructor":{"type":"toString","data":{"parentId":"__proto__"}},' +
      '"l":{"type":"loop","data":{"loopType":"constructor"}}},"edges":[{"id":"__proto__","source":"__proto__",' +
      '"target":"constructor"}],"loops":{"__proto__":{"nodes":["l"]},"l":{"__proto__":{"a":1},"nodes":["constructor"]}},' +
      '"variables":{"__proto__":{"name":"__proto__","value":1},"v":{"name":"constructor"}}}}'
    expect(outcomeOf(JSON.parse(text))).toBe('imported')
    expect(Object.keys(Object.prototype)).toEqual([])
    expect(({} as Record<string, unknown>)['a']).toBeUndefined()
  })

  test('that is nested too deeply, or has too many values, is refused', () => {
    let deep: unknown = 'x'
    for (let level = 0; level < 100_000; level += 1) deep = [deep]
    const block = (value: unknown) => ({
      blocks: { a: { type: 'agent', subBlocks: { messages: { value } } } },
      edges: [],
    })
    expect(importSim(block(deep))).toEqual({
      details: [{ path: '', message: expect.stringContaining('levels of nesting') }],
    })
    const wide = Array.from({ length: 600_000 }, () => 0)
    expect(importSim(block(wide))).toEqual({ details: [{ path: '', message: expect.stringContaining('values') }] })
    const circle: Record<string, unknown> = { blocks: {} }
    circle['blocks'] = circle
    expect(outcomeOf(circle)).toBe('refused')
  }, 60_000)

  test('with containers that contain each other is imported', () => {
    const blocks = Object.fromEntries(
      Array.from({ length: 500 }, (_, n) => [`b${n}`, { type: 'loop', data: { parentId: `b${(n + 1) % 500}` } }]),
    )
    expect(outcomeOf({ blocks, edges: [] })).toBe('imported')
  })

  test('with thousands of equal names and connections is imported', () => {
    const count = 2_000
    const file = {
      blocks: Object.fromEntries(
        Array.from({ length: count }, (_, n) => [`b${n}`, { type: 'router', name: 'Same', subBlocks: {} }]),
      ),
      edges: Array.from({ length: 5 * count }, (_, n) => ({ source: `b${n % count}`, target: `b${(n * 7) % count}` })),
      variables: Array.from({ length: count }, () => ({ name: 'same', value: 1 })),
    }
    expect(outcomeOf(file)).toBe('imported')
  })
})
