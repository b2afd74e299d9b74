import type { EditedDocument } from './change.ts'
import { normaliseName } from './normalise-name.ts'
import { renameReferences } from './rename-references.ts'
import { own } from './same-value.ts'

type Sides<Doc> = { base: Doc; mine: Doc; theirs: Doc }

/**
 * Gives blocks that only one person renamed their new name in all three documents, with their references. A new name
 * then contradicts no change of a text that refers to it. A block of mine whose new name is also the name of one of
 * theirs gets a free name.
 */
export function alignNames<Doc extends EditedDocument>({ base, mine, theirs }: Sides<Doc>): Sides<Doc> {
  const unique = withFreeNames({ base, mine, theirs })
  const [my, their] = [namesById(base, unique), namesById(base, theirs)]
  // Both renamed it: the references follow my name, and the name itself is a conflict.
  const names = new Map([...their, ...my])
  if (names.size === 0) return { base, mine: unique, theirs }
  const contested = new Set([...my.keys()].filter((id) => their.has(id) && their.get(id) !== my.get(id)))
  return {
    base: renamed(base, names, contested),
    mine: renamed(unique, names, contested),
    theirs: renamed(theirs, names, contested),
  }
}

/** The new names of blocks, by their ids. */
function namesById(before: EditedDocument, after: EditedDocument): Map<string, string> {
  if (before.blocks === after.blocks) return new Map()
  return new Map(
    Object.values(before.blocks).flatMap(({ id, name }) => {
      const now = own(after.blocks, id)?.name
      return now === undefined || now === name ? [] : [[id, now] as const]
    }),
  )
}

/** `contested` blocks keep the name that they have in this document. */
function renamed<Doc extends EditedDocument>(
  document: Doc,
  names: ReadonlyMap<string, string>,
  contested: ReadonlySet<string>,
): Doc {
  const references = new Map<string, string>()
  let blocks: Record<string, EditedDocument['blocks'][string]> | undefined
  for (const [id, name] of names) {
    const block = own(document.blocks, id)
    if (!block || block.name === name) continue
    references.set(normaliseName(block.name), normaliseName(name))
    if (contested.has(id)) continue
    blocks ??= { ...document.blocks }
    blocks[id] = { ...block, name }
  }
  return renameReferences(blocks ? { ...document, blocks } : document, references)
}

/** The name that one of their blocks will have; undefined when I removed it. */
function mergedName(id: string, { base, mine, theirs }: Sides<EditedDocument>): string | undefined {
  const [was, is, will] = [base, mine, theirs].map(({ blocks }) => own(blocks, id)?.name)
  if (was !== undefined && is === undefined) return undefined
  return normaliseName((is === was ? will : is) ?? '')
}

function withFreeNames<Doc extends EditedDocument>({ base, mine, theirs }: Sides<Doc>): Doc {
  if (base.blocks === mine.blocks) return mine
  const named = Object.values(mine.blocks).filter(({ id, name }) => {
    return own(theirs.blocks, id) === undefined || own(base.blocks, id)?.name !== name
  })
  if (named.length === 0) return mine
  const owners = new Map(Object.values(theirs.blocks).map(({ id, name }) => [normaliseName(name), id]))
  const clashing = named.filter(({ id, name }) => {
    const owner = owners.get(normaliseName(name))
    if (owner === undefined || owner === id) return false
    return mergedName(owner, { base, mine, theirs }) === normaliseName(name)
  })
  if (clashing.length === 0) return mine
  const taken = new Set([...owners.keys(), ...Object.values(mine.blocks).map(({ name }) => normaliseName(name))])
  const blocks = { ...mine.blocks }
  const references = new Map<string, string>()
  const numbers = new Map<string, number>()
  for (const block of clashing) {
    const stem = block.name.replace(/\s+\d{1,9}$/, '')
    let number = numbers.get(stem) ?? 1
    let name: string
    do {
      number += 1
      name = `${stem} ${number}`
    } while (taken.has(normaliseName(name)))
    numbers.set(stem, number)
    taken.add(normaliseName(name))
    references.set(normaliseName(block.name), normaliseName(name))
    blocks[block.id] = { ...block, name }
  }
  return renameReferences({ ...mine, blocks }, references)
}
