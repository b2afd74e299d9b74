import type { ErrorDetail } from '../../domain/errors.ts'
import { normaliseName, type PathStep, parsePath } from '../../domain/workflow/reference.ts'
import type { Plan } from '../../engine/compile/plan.ts'

export const selectedOutputsMax = 1_000

/** One entry of `selectedOutputs`: a value to send as soon as it is available. */
export type SelectedOutput = {
  /** The caller's spelling. */
  entry: string
  blockId: string
  path: readonly PathStep[]
  /** Whether the block is inside a loop or parallel, and has one value per iteration. */
  isRepeated: boolean
}

/** Resolves entries. An entry that matches nothing is a problem, which lists the existing names. */
export function readSelection(
  entries: readonly string[],
  { document }: Plan,
): { selected: SelectedOutput[]; problems: ErrorDetail[] } {
  const blocks = Object.values(document.blocks)
  const byName = new Map(blocks.map((block) => [normaliseName(block.name), block]))
  const selected: SelectedOutput[] = []
  const problems: ErrorDetail[] = []
  for (const [index, entry] of entries.entries()) {
    const dot = entry.indexOf('.')
    const block = dot > 0 ? byName.get(normaliseName(entry.slice(0, dot))) : undefined
    if (block) {
      const isRepeated = (block.parentId ?? undefined) !== undefined
      selected.push({ entry, blockId: block.id, path: parsePath(entry.slice(dot)), isRepeated })
      continue
    }
    const names = blocks.map(({ name }) => name).join(', ')
    const message = `"${entry}" is no blockName.path of this workflow. Its blocks: ${names}.`
    problems.push({ path: `selectedOutputs.${index}`, message })
  }
  return { selected, problems }
}
