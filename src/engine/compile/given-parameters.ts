import type { Block, WorkflowDocument } from '../../domain/workflow/workflow.ts'
import type { Registry } from './graph.ts'

/**
 * Completes a document before it is stored. Missing parameters that are given at save keep their stored values, so that
 * a file without them can be pushed repeatedly, or get a new text. `before`: the stored document.
 */
export function giveParameters(
  document: WorkflowDocument,
  before: WorkflowDocument | undefined,
  registry: Registry,
  newText: () => string,
): WorkflowDocument {
  const storedByType = Map.groupBy(Object.values(before?.blocks ?? {}), ({ type }) => type)
  const changed = Object.entries(document.blocks).flatMap(([id, block]): [string, Block][] => {
    const names = registry.get(block.type)?.givenAtSave ?? []
    const missing = names.filter((name) => isMissing(block.params?.[name]))
    if (missing.length === 0) return []
    const stored = (sameBlock(block, before) ?? onlyOne(storedByType.get(block.type)))?.params
    const given = missing.map((name) => [name, isMissing(stored?.[name]) ? newText() : stored?.[name]] as const)
    return [[id, { ...block, params: { ...block.params, ...Object.fromEntries(given) } }]]
  })
  if (changed.length === 0) return document
  return { ...document, blocks: { ...document.blocks, ...Object.fromEntries(changed) } }
}

/** The stored block with the same id and type. */
function sameBlock({ id, type }: Block, before: WorkflowDocument | undefined): Block | undefined {
  const stored = before && Object.hasOwn(before.blocks, id) ? before.blocks[id] : undefined
  return stored?.type === type ? stored : undefined
}

function onlyOne(blocks: readonly Block[] | undefined): Block | undefined {
  return blocks?.length === 1 ? blocks[0] : undefined
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}
