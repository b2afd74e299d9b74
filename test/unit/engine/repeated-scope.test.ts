import { expect, test } from 'bun:test'
import type { PlanNode, PlanScope } from '../../../src/engine/compile/plan.ts'
import { edgesWithin, slotsBehind } from '../../../src/engine/run/walk/repeated-scope.ts'

/** A scope from edges such as `0:notify > 1`. Blocks without incoming edges are entries. */
function scopeOf(count: number, edges: readonly string[]): { scope: PlanScope; ask: PlanNode } {
  const nodes = Array.from({ length: count }, (_, slot) => ({
    slot,
    outgoing: [] as { port: string; target: number }[],
  }))
  const incoming = new Array<number>(count).fill(0)
  for (const edge of edges) {
    const [, from = '', port = 'source', to = ''] = /^(\d+)(?::(\w+))? > (\d+)$/.exec(edge) ?? []
    nodes[Number(from)]!.outgoing.push({ port, target: Number(to) })
    incoming[Number(to)]! += 1
  }
  const entries = incoming.flatMap((edgesTo, slot) => (edgesTo === 0 ? [{ slot, isStart: false }] : []))
  const scope = { nodes: nodes as unknown as PlanNode[], incoming, entries, joinedStarts: [] }
  return { scope, ask: scope.nodes[0]! }
}

test('the blocks behind a handle are those that nothing else leads to', () => {
  const edges = ['0:notify > 1', '1 > 2', '2 > 3', '0 > 4', '4 > 5', '2 > 5', '5 > 6']
  const { scope, ask } = scopeOf(7, edges)
  expect([...slotsBehind(scope, ask, 'notify')].toSorted()).toEqual([1, 2, 3])
})

test('a block that another path leads to is not behind the handle', () => {
  const { scope, ask } = scopeOf(5, ['0:notify > 1', '1 > 2', '0 > 3', '3 > 2', '2 > 4', '1 > 4'])
  expect([...slotsBehind(scope, ask, 'notify')]).toEqual([1])
})

test('only the edges among these blocks and from the handle count', () => {
  const { scope, ask } = scopeOf(5, ['0:notify > 1', '0:notify > 2', '1 > 2', '2 > 3', '0 > 4'])
  const slots = slotsBehind(scope, ask, 'notify')
  expect(edgesWithin(scope, { node: ask, port: 'notify', slots })).toEqual([0, 1, 2, 1, 0])
})

test('a handle without edges has no blocks behind it', () => {
  const { scope, ask } = scopeOf(2, ['0 > 1'])
  expect(slotsBehind(scope, ask, 'notify').size).toBe(0)
})
