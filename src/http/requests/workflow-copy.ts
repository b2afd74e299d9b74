import { registry } from '../../blocks/registry.ts'
import type { Block, WorkflowDocument } from '../../domain/workflow/workflow.ts'

/** A document for another workflow: without its id, and without what the service has given to this one alone. */
export function freshCopy({ id: _, ...document }: WorkflowDocument): WorkflowDocument {
  const blocks = Object.entries(document.blocks).map(([id, block]) => [id, withoutGiven(block)] as const)
  return { ...document, blocks: Object.fromEntries(blocks) }
}

function withoutGiven(block: Block): Block {
  const given = registry.get(block.type)?.givenAtSave ?? []
  if (given.length === 0 || !block.params) return block
  const params = Object.fromEntries(Object.entries(block.params).filter(([name]) => !given.includes(name)))
  return { ...block, params }
}

/** "Report" → "Report copy", "Report copy 2", … */
export function nameOfCopy(name: string, taken: readonly string[]): string {
  const stem = name.replace(/ copy( \d+)?$/, '').slice(0, 180)
  const names = new Set(taken)
  for (let number = 1; ; number += 1) {
    const candidate = number === 1 ? `${stem} copy` : `${stem} copy ${number}`
    if (!names.has(candidate)) return candidate
  }
}
