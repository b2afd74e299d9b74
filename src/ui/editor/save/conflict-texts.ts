import type { Conflict } from '../../../domain/edits/merge.ts'
import { countOf } from '../../parts/amount-text.ts'
import type { Document } from '../document/document.ts'
import { parameterLabel, pathLabel } from '../document/parameter-label.ts'
import type { BlockType } from '../editing.tsx'

/** The place of a conflict in the words of the editor: `Fetch › URL`. */
export function conflictLabel(
  { path, mine, theirs }: Conflict,
  document: Document,
  types: ReadonlyMap<string, BlockType>,
): string {
  const [collection = '', id = '', member, ...rest] = path
  if (collection === 'notes') return member === undefined ? 'A note' : `A note › ${parameterLabel(member, undefined)}`
  if (collection === 'variables') return `Variable ${id}`
  const block = document.blocks[id] ?? mine ?? theirs
  const { name = id, type = '' } = (block ?? {}) as { name?: string; type?: string }
  if (collection === 'loops' || collection === 'parallels')
    return `${name} › ${parameterLabel(member ?? '', undefined)}`
  if (collection !== 'blocks') return `Workflow › ${parameterLabel(collection, undefined)}`
  if (member === undefined) return `The block “${name}”`
  if (member === 'params') return `${name} › ${pathLabel(rest, types.get(type)?.parameters.properties)}`
  return `${name} › ${member === 'parentId' ? 'Container' : parameterLabel(member, undefined)}`
}

/** A value of a conflict as text. Undefined: it was removed. */
export function conflictValue(value: unknown, { path }: Conflict): string {
  if (value === undefined) return path.length === 2 ? 'Removed' : 'Empty'
  if (path[0] === 'blocks' && path.length === 2) return 'Kept, with changes'
  if (typeof value === 'string') return value === '' ? 'Empty' : value
  return JSON.stringify(value, null, 2)
}

/** The first label and the number of the others: `Fetch › URL and 2 more values`. */
export function conflictSummary(labels: readonly string[]): string {
  const [first, ...others] = labels
  return others.length === 0 ? `${first}` : `${first} and ${countOf(others.length, 'more value')}`
}
