import type { Limits } from '../../domain/limits.ts'
import type { Slices } from '../../domain/slices.ts'
import { normaliseName } from '../../domain/workflow/reference.ts'
import type { Block, Edge, Finding, WorkflowDocument } from '../../domain/workflow/workflow.ts'
import { portsOf } from '../ports.ts'
import type { Graph, GraphNode, GraphScope, Registry } from './graph.ts'
import { checkBody, checkCycles, checkReach, checkResponses, checkTriggers, namesMax } from './graph-checks.ts'
import { placeInScopes } from './graph-scopes.ts'
import { Report } from './report.ts'

/** Arranges the blocks in scopes. With errors among the findings, the graph lacks the parts that they concern. */
export function* arrange(
  document: WorkflowDocument,
  registry: Registry,
  limits: Limits,
): Slices<{ graph: Graph; findings: Finding[] }> {
  const report = new Report()
  const root: GraphScope = { container: undefined, parent: undefined, depth: 0, nodes: [] }
  const nodes = yield* collectNodes(document, registry, root, report)
  yield
  placeInScopes(document, nodes, root, limits, report)
  const handles = new Map<GraphNode, ReadonlySet<string>>()
  for (const [index, edge] of document.edges.entries()) {
    yield
    connect(edge, index, { document, nodes, handles, report })
  }
  for (const node of nodes.values()) {
    if (node.body) checkBody(node, report)
  }
  checkTriggers(nodes, report)
  yield
  checkCycles(nodes, report)
  yield
  checkReach(nodes, report)
  yield
  checkResponses(nodes, report)
  return { graph: { root, nodes }, findings: report.findings }
}

function* collectNodes(
  document: WorkflowDocument,
  registry: Registry,
  root: GraphScope,
  report: Report,
): Slices<Map<string, GraphNode>> {
  const nodes = new Map<string, GraphNode>()
  const names = new Map<string, Block>()
  for (const [id, block] of Object.entries(document.blocks)) {
    yield
    const path = `blocks.${id}`
    if (block.id !== id) {
      report.add(
        'error',
        'ID_MISMATCH',
        `${path}.id`,
        block,
        `The block is listed under "${id}" but its id is "${block.id}".`,
      )
    }
    if (/[.<>]/.test(block.name)) {
      report.add(
        'error',
        'INVALID_BLOCK_NAME',
        `${path}.name`,
        block,
        'A block name must not contain ".", "<" or ">": references could not refer to the block.',
      )
    }
    const name = normaliseName(block.name)
    const other = names.get(name)
    if (other) {
      report.add(
        'error',
        'DUPLICATE_BLOCK_NAME',
        `${path}.name`,
        block,
        `The blocks "${other.name}" and "${block.name}" have the same name if case and spaces are ignored. ` +
          'References would be ambiguous: rename one of them.',
      )
    }
    names.set(name, block)
    const definition = registry.get(block.type)
    if (!definition) {
      const known = [...registry.keys()].join(', ')
      report.add(
        'error',
        'UNKNOWN_BLOCK_TYPE',
        `${path}.type`,
        block,
        `There is no block type "${block.type}". Known types: ${known}.`,
      )
      continue
    }
    nodes.set(id, {
      id,
      block,
      name,
      definition,
      scope: root,
      slot: -1,
      outgoing: [],
      incoming: 0,
      isStart: false,
      body: undefined,
    })
  }
  return nodes
}

const startHandles = new Set(['loop-start-source', 'parallel-start-source'])
const endHandles = new Set(['loop-end-source', 'parallel-end-source', 'source'])

type Connecting = {
  document: WorkflowDocument
  nodes: Map<string, GraphNode>
  /** The handles of each block that an edge has left. A block may have many, so they are listed only once. */
  handles: Map<GraphNode, ReadonlySet<string>>
  report: Report
}

function connect(edge: Edge, index: number, { document, nodes, handles, report }: Connecting): void {
  const path = `edges.${index}`
  const missing = [edge.source, edge.target].filter((id) => !Object.hasOwn(document.blocks, id))
  for (const id of missing)
    report.add(
      'error',
      'UNKNOWN_BLOCK',
      path,
      null,
      `The edge from "${edge.source}" to "${edge.target}" refers to "${id}", which is not a block of this workflow.`,
    )
  const source = nodes.get(edge.source)
  const target = nodes.get(edge.target)
  if (!source || !target) return
  const handle = edge.sourceHandle || undefined

  if (source.body && target.scope === source.body && (handle === undefined || startHandles.has(handle))) {
    target.isStart = true
    return
  }
  // An edge from an inner block back to its own container has no meaning of its own.
  if (target.body && source.scope === target.body) return
  if (source.scope !== target.scope) {
    report.add(
      'error',
      'EDGE_CROSSES_CONTAINER',
      path,
      source.block,
      `The edge from "${source.block.name}" to "${target.block.name}" crosses the border of a loop or parallel. ` +
        'Connect it to the container instead.',
    )
    return
  }
  if (target.definition.kind === 'trigger') {
    report.add(
      'error',
      'EDGE_TO_TRIGGER',
      path,
      target.block,
      `An edge leads to the trigger "${target.block.name}". Edges cannot lead to triggers.`,
    )
    return
  }
  const known = handles.get(source) ?? handlesOf(source)
  handles.set(source, known)
  const port = portOf(source, handle, known)
  if (port === undefined) {
    const names = [...known.values().take(namesMax)].join(', ')
    const more = known.size > namesMax ? ` and ${known.size - namesMax} more` : ''
    report.add(
      'error',
      'UNKNOWN_HANDLE',
      `${path}.sourceHandle`,
      source.block,
      `"${source.block.name}" has no handle "${handle ?? 'source'}". It has: ${names}${more}.`,
    )
    return
  }
  source.outgoing.push({ port, target })
  target.incoming += 1
}

function handlesOf({ block, definition }: GraphNode): Set<string> {
  const own = portsOf(definition, block.params ?? {})
  return new Set(definition.mayFail ? [...own, 'error'] : own)
}

function portOf(node: GraphNode, handle: string | undefined, known: ReadonlySet<string>): string | undefined {
  if (node.body && (handle === undefined || endHandles.has(handle))) return 'source'
  const wanted = handle ?? 'source'
  return known.has(wanted) ? wanted : undefined
}
