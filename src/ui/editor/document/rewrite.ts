import { renameReferences } from '../../../domain/edits/rename-references.ts'
import { type Block, type Document, normaliseName, type Params } from './document.ts'

/** New texts all over a document, by the ids of blocks and notes. */
export type Rewrite = {
  /** New names of blocks. References follow, unless `params` or `settings` set the text that has them. */
  names: Readonly<Record<string, string>>
  params: Readonly<Record<string, Params>>
  /** The settings of loops and parallels. */
  settings: Readonly<Record<string, Params>>
  notes: Readonly<Record<string, string>>
}

/** Applies new texts in one pass. Changes nothing when two blocks would have the same name. */
export function rewrite(document: Document, { names, params, settings, notes }: Rewrite): Document {
  const following = renameReferences(document, referenceNames(document, names))
  const blocks = mapped(following.blocks, (block): Block => {
    const name = names[block.id]?.trim() || block.name
    const own = params[block.id]
    if (name === block.name && !own) return block
    return { ...block, name, ...(own ? { params: { ...block.params, ...own } } : {}) }
  })
  if (hasTwin(blocks) && !hasTwin(document.blocks)) return document
  const entry = <Entry extends object>(one: Entry, id: string): Entry =>
    settings[id] ? { ...one, ...settings[id] } : one
  const next: Document = {
    ...following,
    blocks,
    ...(following.loops ? { loops: mapped(following.loops, entry) } : {}),
    ...(following.parallels ? { parallels: mapped(following.parallels, entry) } : {}),
    ...(following.notes
      ? { notes: mapped(following.notes, (note, id) => ({ ...note, text: notes[id] ?? note.text })) }
      : {}),
  }
  return next
}

/** The new names of blocks by their old ones, both as references write them. */
export function referenceNames({ blocks }: Document, names: Rewrite['names']): Map<string, string> {
  return new Map(
    Object.entries(names).flatMap(([id, name]) => {
      const block = blocks[id]
      const [from, to] = [normaliseName(block?.name ?? ''), normaliseName(name)]
      return block && to !== '' && from !== to ? [[from, to] as const] : []
    }),
  )
}

function mapped<Member>(
  members: Readonly<Record<string, Member>>,
  change: (member: Member, id: string) => Member,
): Record<string, Member> {
  return Object.fromEntries(Object.entries(members).map(([id, member]) => [id, change(member, id)]))
}

function hasTwin(blocks: Document['blocks']): boolean {
  const names = Object.values(blocks).map(({ name }) => normaliseName(name))
  return new Set(names).size < names.length
}
