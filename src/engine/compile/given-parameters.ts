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
  const changed = Object.entries(document.blocks).flatMap(([id, block]): [string, Block][] => {
    const names = registry.get(block.type)?.givenAtSave ?? []
    const missing = names.filter((name) => isMissing(block.params?.[name]))
    if (missing.length === 0) return []
    const stored = sameBlock(block, before)?.params
    const given = missing.map((name) => [name, isMissing(stored?.[name]) ? newText() : stored?.[name]] as const)
    return [[id, { ...block, params: { ...block.params, ...Object.fromEntries(given) } }]]
  })
  if (changed.length === 0) return document
  return { ...document, blocks: { ...document.blocks, ...Object.fromEntries(changed) } }
}

/** The stored block: the one with the same id, or else the only one of the same type. */
function sameBlock({ id, type }: Block, before: WorkflowDocument | undefined): Block | undefined {
  const alike = Object.values(before?.blocks ?? {}).filter((block) => block.type === type)
  return alike.find((block) => block.id === id) ?? (alike.length === 1 ? alike[0] : undefined)
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}
