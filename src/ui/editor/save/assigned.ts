import type { Document, Params } from '../document/document.ts'

/**
 * The change that adopts parameters assigned by the service while saving, such as the path of a webhook trigger. A
 * parameter that was set locally in the meantime keeps its value. The same document always maps to the same object.
 */
export function assignedBy(
  sent: Document,
  saved: Pick<Document, 'blocks'>,
): ((document: Document) => Document) | undefined {
  const assigned = Object.values(sent.blocks).flatMap(({ id, params = {} }) => {
    const given = Object.entries(saved.blocks[id]?.params ?? {}).filter(([name]) => params[name] === undefined)
    return given.length === 0 ? [] : [[id, Object.fromEntries(given)] as const]
  })
  if (assigned.length === 0) return undefined
  const known = new Map<Document, Document>()
  return (document) => {
    const before = known.get(document)
    if (before) return before
    const after = withParameters(document, assigned)
    known.set(document, after)
    return after
  }
}

function withParameters(document: Document, assigned: readonly (readonly [string, Params])[]): Document {
  const changed = assigned.flatMap(([id, given]) => {
    const block = document.blocks[id]
    const missing = Object.entries(given).filter(([name]) => block?.params?.[name] === undefined)
    if (!block || missing.length === 0) return []
    return [[id, { ...block, params: { ...block.params, ...Object.fromEntries(missing) } }] as const]
  })
  if (changed.length === 0) return document
  return { ...document, blocks: { ...document.blocks, ...Object.fromEntries(changed) } }
}
