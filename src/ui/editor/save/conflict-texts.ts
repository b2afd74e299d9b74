import type { Conflict } from '../../../domain/edits/merge.ts'
import { countOf } from '../../parts/amount-text.ts'
import type { Document } from '../document/document.ts'
import { labelledValue, parameterLabel, pathLabel } from '../document/parameter-label.ts'
import type { BlockType } from '../editing.tsx'

/** The place of a conflict in the words of the editor: `Fetch › URL`. */
export function conflictLabel(conflict: Conflict, document: Document, types: ReadonlyMap<string, BlockType>): string {
  const { path, mine, theirs } = conflict
  const [collection = '', id = '', member, ...rest] = path
  if (collection === 'notes') return member === undefined ? 'A note' : `A note › ${parameterLabel(member, undefined)}`
  if (collection === 'variables') return `Variable ${id}`
  const { name = id } = (document.blocks[id] ?? mine ?? theirs ?? {}) as { name?: string }
  const properties = propertiesOf(conflict, document, types)
  if (collection === 'loops' || collection === 'parallels') return `${name} › ${pathLabel([member ?? ''], properties)}`
  if (collection !== 'blocks') return `Workflow › ${parameterLabel(collection, undefined)}`
  if (member === undefined) return `The block “${name}”`
  if (member === 'params') return `${name} › ${pathLabel(rest, properties)}`
  return `${name} › ${member === 'parentId' ? 'Container' : parameterLabel(member, undefined)}`
}

/** The schemas of the parameters or settings to which a conflict belongs. */
function propertiesOf({ path, mine, theirs }: Conflict, document: Document, types: ReadonlyMap<string, BlockType>) {
  const [collection = '', id = ''] = path
  const { type = '' } = (document.blocks[id] ?? mine ?? theirs ?? {}) as { type?: string }
  const schemas = types.get(type)
  return collection === 'blocks' ? schemas?.parameters.properties : schemas?.container?.settings.properties
}

/** A value of a conflict as text. Undefined: it was removed. */
export function conflictValue(
  written: unknown,
  conflict: Conflict,
  document: Document,
  types: ReadonlyMap<string, BlockType>,
): string {
  const { path } = conflict
  const inner = path.slice(path[0] === 'blocks' ? 3 : 2)
  const value = inner.length === 0 ? written : labelledValue(written, inner, propertiesOf(conflict, document, types))
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
