import { isRecord, own } from '../../../domain/edits/same-value.ts'
import { type Block, type Document, type Edge, handleOf, portsOf } from './document.ts'
import { type ValueChange, valueChanges } from './value-changes.ts'

/** A block that was added, removed or changed. The path of a value starts with the part of the block: `params`. */
export type BlockChange = {
  kind: 'added' | 'removed' | 'changed'
  id: string
  name: string
  type: string
  values: ValueChange[]
}

/** A connection, by the names of its blocks. `port`: the label of its output, unless it is the usual one. */
export type EdgeChange = { kind: 'added' | 'removed'; source: string; port: string | undefined; target: string }

/** Everything that makes two documents run differently. */
export type DocumentDiff = {
  blocks: BlockChange[]
  edges: EdgeChange[]
  variables: ValueChange[]
  limits: ValueChange[]
  mcp: ValueChange[]
}

export type Compared = Pick<Document, 'blocks' | 'edges' | 'loops' | 'parallels' | 'variables' | 'limits' | 'mcp'>

/**
 * Compares two documents in time linear to their size. Positions, notes, sample values of input fields and texts for
 * people do not count: the service ignores them too when it compares the draft with the live version.
 */
export function documentDiff(before: Compared, after: Compared): DocumentDiff {
  return {
    blocks: blockChanges(before, after),
    edges: edgeChanges(before, after),
    variables: valueChanges(before.variables ?? {}, after.variables ?? {}),
    limits: valueChanges(before.limits ?? {}, after.limits ?? {}),
    mcp: valueChanges(before.mcp ?? {}, after.mcp ?? {}),
  }
}

export function isSameDiff({ blocks, edges, variables, limits, mcp }: DocumentDiff): boolean {
  return blocks.length + edges.length + variables.length + limits.length + mcp.length === 0
}

function blockChanges(before: Compared, after: Compared): BlockChange[] {
  const ids = new Set(
    [after, before].flatMap(({ blocks, loops, parallels }) =>
      [blocks, loops ?? {}, parallels ?? {}].flatMap((members) => Object.keys(members)),
    ),
  )
  return [...ids].flatMap((id): BlockChange[] => {
    const [old, now] = [own(before.blocks, id), own(after.blocks, id)]
    const [oldParts, nowParts] = [partsOf(old, id, before), partsOf(now, id, after)]
    // The parameters of a block that was added or removed are listed one by one.
    const values = valueChanges(
      old ? oldParts : { ...oldParts, ...blank(nowParts) },
      now ? nowParts : { ...nowParts, ...blank(oldParts) },
    )
    if (values.length === 0) return []
    const { name = id, type = '' } = now ?? old ?? {}
    const kind = !old === !now ? 'changed' : now ? 'added' : 'removed'
    return [{ kind, id, name, type, values }]
  })
}

/** The parts of a block that are compared. The container is given by its id, because a new name moves no block. */
function partsOf(block: Block | undefined, id: string, { loops, parallels }: Compared): Parts {
  return {
    ...(block && {
      name: block.name,
      type: block.type,
      enabled: block.enabled ?? true,
      container: block.parentId,
      params: withoutSamples(block.params ?? {}),
    }),
    loop: settingsOf(own(loops, id)),
    parallel: settingsOf(own(parallels, id)),
  }
}

type Parts = Record<string, unknown>

function blank({ params, loop, parallel }: Parts): Parts {
  return {
    ...(params !== undefined && { params: {} }),
    ...(loop !== undefined && { loop: {} }),
    ...(parallel !== undefined && { parallel: {} }),
  }
}

/** The list of inner blocks says the same as the container of each block. */
function settingsOf(entry: object | undefined): Record<string, unknown> | undefined {
  if (!entry) return undefined
  const { nodes: _nodes, id: _id, ...settings } = entry as Record<string, unknown>
  return settings
}

function withoutSamples(params: Record<string, unknown>): Record<string, unknown> {
  const format = own(params, 'inputFormat')
  if (!Array.isArray(format)) return params
  const fields = format.map((field: unknown) => {
    if (!isRecord(field)) return field
    const { value: _, ...rest } = field
    return rest
  })
  return { ...params, inputFormat: fields }
}

function edgeChanges(before: Compared, after: Compared): EdgeChange[] {
  const counts = new Map<string, number>()
  for (const edge of before.edges) counts.set(keyOf(edge), (counts.get(keyOf(edge)) ?? 0) + 1)
  const added = after.edges.filter((edge) => !taken(counts, edge))
  const left = before.edges.filter((edge) => taken(counts, edge))
  return [
    ...left.map((edge) => edgeChange('removed', edge, before)),
    ...added.map((edge) => edgeChange('added', edge, after)),
  ]
}

function taken(counts: Map<string, number>, edge: Edge): boolean {
  const count = counts.get(keyOf(edge)) ?? 0
  if (count > 0) counts.set(keyOf(edge), count - 1)
  return count > 0
}

function keyOf({ source, sourceHandle, target, targetHandle }: Edge): string {
  return JSON.stringify([source, sourceHandle ?? 'source', target, targetHandle ?? 'target'])
}

function edgeChange(kind: EdgeChange['kind'], edge: Edge, document: Compared): EdgeChange {
  const nameOf = (id: string) => own(document.blocks, id)?.name ?? id
  const source = own(document.blocks, edge.source)
  const handle = handleOf(document as Document, edge)
  const port = source && portsOf(source).find((one) => one.handle === handle)
  const label = port?.kind === 'source' ? undefined : (port?.label ?? handle)
  return { kind, source: nameOf(edge.source), port: label, target: nameOf(edge.target) }
}
