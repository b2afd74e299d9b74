import { expect } from 'bun:test'
import fc from 'fast-check'
import {
  type Block,
  childrenOf,
  type Document,
  isContainer,
  normaliseName,
  portsOf,
} from '../../../src/ui/editor/document/document.ts'
import type { Edit } from '../../../src/ui/editor/document/edit.ts'

export const empty: Document = { name: 'Test', blocks: {}, edges: [] }
const types = ['api_trigger', 'api', 'function', 'condition', 'loop', 'parallel', 'response'] as const
/** The ids of blocks that edits use. */
export const ids = Array.from({ length: 12 }, (_, at) => `b${at}`)

export const anyId = fc.constantFrom(...ids)
export const anyPoint = fc.record({ x: fc.integer({ min: -500, max: 500 }), y: fc.integer({ min: -500, max: 500 }) })
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
export const anyEdit: fc.Arbitrary<Edit> = fc.oneof(
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
  fc.record({
    kind: fc.constant('convert' as const),
    id: anyId,
    type: fc.constantFrom(...types),
    params: anyParams,
  }),
  fc.record({ kind: fc.constant('rename' as const), id: anyId, name: anyName }),
  fc.record({ kind: fc.constant('set' as const), id: anyId, params: anyParams }),
  fc.record({ kind: fc.constant('enable' as const), ids: fc.array(anyId, { maxLength: 3 }), enabled: fc.boolean() }),
  fc.record({
    kind: fc.constant('note' as const),
    note: fc.record({ id: fc.constantFrom('n1', 'n2'), text: fc.string(), position: anyPoint }),
  }),
)

/** Asserts the invariants of every document that the editor produces. */
export function assertSound(document: Document): void {
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
