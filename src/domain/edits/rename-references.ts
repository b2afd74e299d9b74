import { deepMap, mapMembers } from './deep-map.ts'
import { normaliseName } from './normalise-name.ts'

/** The parts of a document that contain references. */
type WithReferences = {
  blocks: Readonly<Record<string, { params?: Record<string, unknown> | undefined }>>
  loops?: Readonly<Record<string, object>> | undefined
  parallels?: Readonly<Record<string, object>> | undefined
}

/**
 * Updates all references after blocks were renamed: `<old.path>` becomes `<new.path>` in parameters, container settings
 * and code. `names`: the new names by the old ones, both normalised. All names change at once, so two may be swapped.
 */
export function renameReferences<Doc extends WithReferences>(document: Doc, names: ReadonlyMap<string, string>): Doc {
  if (names.size === 0) return document
  const rewrite = (text: string) =>
    text.includes('<')
      ? text.replaceAll(referencedName, (whole, name: string) => {
          const next = names.get(normaliseName(name))
          return next === undefined ? whole : `<${next}`
        })
      : text
  const rewritten = <Member>(members: Readonly<Record<string, Member>>, map: (member: Member) => Member) =>
    mapMembers(members, map)
  return {
    ...document,
    blocks: rewritten(document.blocks, (block) => {
      if (!block.params) return block
      const params = deepMap(block.params, rewrite)
      return params === block.params ? block : { ...block, params: params as typeof block.params }
    }),
    ...(document.loops ? { loops: rewritten(document.loops, (entry) => deepMap(entry, rewrite) as typeof entry) } : {}),
    ...(document.parallels
      ? { parallels: rewritten(document.parallels, (entry) => deepMap(entry, rewrite) as typeof entry) }
      : {}),
  }
}

/** Matches `<` and the block name of a reference: everything up to the first dot, bracket or end. */
export const referencedName = /<([^<>.[\]"']+)(?=[.[>])/g
