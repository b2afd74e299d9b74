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
  return {
    blocks: mapMembers(document.blocks, blockThatRuns),
    edges: document.edges.map(edgeThatRuns).sort(),
    loops: mapMembers(document.loops ?? {}, containerThatRuns),
    parallels: mapMembers(document.parallels ?? {}, containerThatRuns),
    variables: document.variables ?? {},
  }
}

function mapMembers<Member>(members: Record<string, Member>, map: (member: Member) => unknown): unknown {
  return Object.fromEntries(Object.entries(members).map(([id, member]) => [id, map(member)]))
}

function blockThatRuns({ type, name, enabled, params, parentId }: Block): unknown {
  return { type, name, enabled: enabled ?? true, parentId: parentId ?? null, params: withoutSamples(params ?? {}) }
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

function containerThatRuns({ id: _id, nodes, ...rest }: { id?: string; nodes?: string[] }): unknown {
  return { ...rest, nodes: [...(nodes ?? [])].sort() }
}
