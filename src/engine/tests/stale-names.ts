import type { WorkflowDocument } from '../../domain/workflow/workflow.ts'
import type { WorkflowTest } from '../../domain/workflow/workflow-test.ts'

/** The names in a test that no block of the draft has, each with the name that it probably means, or null. */
export function staleNames(test: WorkflowTest, { blocks }: WorkflowDocument): Map<string, string | null> {
  const existing = new Set(Object.values(blocks).map(({ name }) => name))
  const named = new Set(namesIn(test))
  const missing = [...named].filter((name) => !existing.has(name))
  if (missing.length === 0) return new Map()
  const free = [...existing].filter((name) => !named.has(name)).slice(0, candidatesMax)
  const pairs = new Map([...missing.slice(0, missingMax), ...free].map((name) => [name, pairsOf(name)]))
  return new Map(
    missing.slice(0, missingMax).map((name) => {
      const best = free
        .map((each) => ({ each, score: alikeness(pairs.get(name), pairs.get(each)) }))
        .toSorted((a, b) => b.score - a.score)[0]
      const isOnly = missing.length === 1 && free.length === 1
      if (!best || (best.score < alikeMin && !isOnly)) return [name, null]
      free.splice(free.indexOf(best.each), 1)
      return [name, best.each]
    }),
  )
}

/** The test with other names of blocks. */
export function renamed(test: WorkflowTest, names: ReadonlyMap<string, string | null>): WorkflowTest {
  const now = (name: string) => names.get(name) ?? name
  const { mocks, expect } = test
  return {
    ...test,
    ...(mocks && {
      mocks: mocks.map((mock) => (mock.block === undefined ? mock : { ...mock, block: now(mock.block) })),
    }),
    expect: { ...expect, ...(expect.path && { path: expect.path.map(now) }) },
  }
}

function namesIn({ mocks = [], expect }: WorkflowTest): string[] {
  return [...mocks.flatMap(({ block }) => (block === undefined ? [] : [block])), ...(expect.path ?? [])]
}

/** From 0 to 1: the share of pairs of neighbouring letters that two names have in common. */
function alikeness(a: ReadonlySet<string> = new Set(), b: ReadonlySet<string> = new Set()): number {
  const shared = [...a].filter((pair) => b.has(pair)).length
  return a.size + b.size === 0 ? 0 : (2 * shared) / (a.size + b.size)
}

function pairsOf(name: string): Set<string> {
  const text = ` ${name.toLowerCase()} `
  return new Set(Array.from({ length: text.length - 1 }, (_, at) => text.slice(at, at + 2)))
}

const alikeMin = 0.4
const missingMax = 20
const candidatesMax = 200
