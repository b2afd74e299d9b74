import { isObject } from '../run/input.ts'
import type { Block, Edge, WorkflowDocument } from './workflow.ts'

/**
 * Whether two documents behave the same when they run, so that a deployment would change nothing. Ignores positions,
 * sample values of input fields, texts for people, webhook subscriptions (they do not belong to a version) and edge
 * IDs.
 */
export function runAlike(a: WorkflowDocument, b: WorkflowDocument): boolean {
  return a === b || Bun.deepEquals(whatRuns(a), whatRuns(b))
}

function whatRuns(document: WorkflowDocument): unknown {
  const parents = listedParents(document)
  const parentOf = ({ id, parentId }: Block) => parentId ?? parents.get(id) ?? null
  const container = (entry: Container, id: string) => {
    const { id: _, nodes = [], ...rest } = entry
    // A block says the same with its `parentId`.
    const others = nodes.filter((node) => {
      const block = Object.hasOwn(document.blocks, node) ? document.blocks[node] : undefined
      return !block || parentOf(block) !== id
    })
    return { ...rest, others: others.sort() }
  }
  return {
    blocks: mapMembers(document.blocks, (block) => ({ ...blockThatRuns(block), parentId: parentOf(block) })),
    edges: document.edges.map(edgeThatRuns).sort(),
    loops: mapMembers(document.loops ?? {}, container),
    parallels: mapMembers(document.parallels ?? {}, container),
    variables: document.variables ?? {},
    limits: document.limits ?? {},
    mcp: document.mcp ?? {},
  }
}

type Container = { id?: string; nodes?: string[] }

/** The container of each block according to the lists of the containers. The editor writes it into each block. */
function listedParents({ blocks, loops, parallels }: WorkflowDocument): Map<string, string> {
  const parents = new Map<string, string>()
  for (const [id, { nodes }] of Object.entries<Container>({ ...loops, ...parallels })) {
    if (Object.hasOwn(blocks, id)) for (const node of nodes ?? []) parents.set(node, id)
  }
  return parents
}

function mapMembers<Member>(members: Record<string, Member>, map: (member: Member, id: string) => unknown): unknown {
  return Object.fromEntries(Object.entries(members).map(([id, member]) => [id, map(member, id)]))
}

function blockThatRuns({ type, name, enabled, params }: Block): object {
  return { type, name, enabled: enabled ?? true, params: withoutSamples(params ?? {}) }
}

function withoutSamples(params: Record<string, unknown>): unknown {
  const format = params['inputFormat']
  if (!Array.isArray(format)) return params
  const fields = format.map((field: unknown) => (isObject(field) ? { ...field, value: null } : field))
  return { ...params, inputFormat: fields }
}

function edgeThatRuns({ source, sourceHandle, target, targetHandle }: Edge): string {
  return JSON.stringify([source, sourceHandle ?? 'source', target, targetHandle ?? 'target'])
}
