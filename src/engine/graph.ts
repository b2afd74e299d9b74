import type { Limits } from '../domain/limits.ts'
import { type Block, type Edge, type Finding, normaliseName, type WorkflowDocument } from '../domain/workflow.ts'
import type { BlockDefinition } from './block.ts'

/** The blocks of a document by scope, and what their arrangement gets wrong. Knows nothing of parameters. */
export type Graph = { root: GraphScope; nodes: Map<string, GraphNode> }

export type GraphScope = {
  container: GraphNode | undefined
  parent: GraphScope | undefined
  /** 0 for the root. */
  depth: number
  nodes: GraphNode[]
}

export type GraphNode = {
  id: string
  block: Block
  name: string
  definition: BlockDefinition
  scope: GraphScope
  slot: number
  /** By handle; the handles that leave a container are `source` here. */
  outgoing: { port: string; target: GraphNode }[]
  /** Edges from blocks of the same scope. */
  incoming: number
  /** The container's edge to its first inner blocks leads here. */
  isStart: boolean
  body: GraphScope | undefined
}

export type Registry = ReadonlyMap<string, BlockDefinition>

/** Arranges the blocks. A graph comes back also with findings, without the parts they are about. */
export function arrange(
  document: WorkflowDocument,
  registry: Registry,
  limits: Limits,
): { graph: Graph; findings: Finding[] } {
  const report = new Report()
  const root: GraphScope = { container: undefined, parent: undefined, depth: 0, nodes: [] }
  const nodes = collectNodes(document, registry, root, report)
  placeInScopes(document, nodes, root, limits, report)
  for (const [index, edge] of document.edges.entries()) connect(edge, index, { document, nodes, report })
  for (const node of nodes.values()) {
    if (node.body) checkBody(node, report)
  }
  checkTriggers(nodes, report)
  checkCycles(nodes, report)
  checkReach(nodes, report)
  return { graph: { root, nodes }, findings: report.findings }
}

/** Collects findings. */
export class Report {
  readonly findings: Finding[] = []

  add(
    level: Finding['level'],
    code: string,
    path: string,
    block: { id: string; name: string } | null,
    message: string,
  ) {
    this.findings.push({ level, code, path, blockId: block?.id ?? null, blockName: block?.name ?? null, message })
  }
}

function collectNodes(document: WorkflowDocument, registry: Registry, root: GraphScope, report: Report) {
  const nodes = new Map<string, GraphNode>()
  const names = new Map<string, Block>()
  for (const [id, block] of Object.entries(document.blocks)) {
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
        'A block name must not contain ".", "<" or ">": references could not name the block.',
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
        `The blocks "${other.name}" and "${block.name}" have the same name once case and spaces are ignored; references could mean either.`,
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

function placeInScopes(
  document: WorkflowDocument,
  nodes: Map<string, GraphNode>,
  root: GraphScope,
  limits: Limits,
  report: Report,
) {
  const parents = parentsOf(document, nodes, report)
  for (const node of nodes.values()) {
    if (node.definition.kind === 'container') node.body = { container: node, parent: root, depth: 1, nodes: [] }
  }
  for (const node of nodes.values()) {
    const chain = chainOf(node.id, parents)
    if (chain === undefined) {
      report.add(
        'error',
        'CONTAINER_CYCLE',
        `blocks.${node.id}.parentId`,
        node.block,
        'The block is, through its containers, inside itself.',
      )
    }
    const body = chain === undefined ? undefined : nodes.get(parents.get(node.id) ?? '')?.body
    if (body && node.definition.kind === 'trigger') {
      report.add(
        'error',
        'TRIGGER_IN_CONTAINER',
        `blocks.${node.id}.parentId`,
        node.block,
        'A trigger starts the run and cannot stand inside a loop or parallel.',
      )
    }
    node.scope = body ?? root
    if (node.body) {
      node.body.parent = node.scope
      node.body.depth = (chain?.length ?? 0) + 1
      if (node.body.depth > limits.nestingMax) {
        report.add(
          'error',
          'NESTED_TOO_DEEP',
          `blocks.${node.id}`,
          node.block,
          `Loops and parallels nest at most ${limits.nestingMax} deep here (MILLRACE_NESTING_MAX).`,
        )
      }
    }
  }
  for (const node of nodes.values()) node.slot = node.scope.nodes.push(node) - 1
}

/** Membership is said by a block's `parentId` and by its container's `nodes`; either will do, both must agree. */
function parentsOf(document: WorkflowDocument, nodes: Map<string, GraphNode>, report: Report): Map<string, string> {
  const parents = new Map<string, string>()
  for (const node of nodes.values()) {
    const { parentId } = node.block
    if (!parentId) continue
    if (nodes.get(parentId)?.definition.kind === 'container') parents.set(node.id, parentId)
    else
      report.add(
        'error',
        'UNKNOWN_CONTAINER',
        `blocks.${node.id}.parentId`,
        node.block,
        `The block's parentId "${parentId}" is no loop or parallel of this workflow.`,
      )
  }
  for (const [kind, entries] of [
    ['loop', document.loops ?? {}],
    ['parallel', document.parallels ?? {}],
  ] as const) {
    for (const [containerId, entry] of Object.entries(entries)) {
      const container = nodes.get(containerId)
      const path = `${kind}s.${containerId}`
      if (container?.block.type !== kind) {
        report.add(
          'error',
          'UNKNOWN_CONTAINER',
          path,
          container?.block ?? null,
          `There is no ${kind} block with the id "${containerId}".`,
        )
        continue
      }
      for (const id of entry.nodes ?? []) {
        const inner = nodes.get(id)
        const said = parents.get(id)
        if (!inner) {
          if (!(id in document.blocks))
            report.add(
              'error',
              'UNKNOWN_BLOCK',
              `${path}.nodes`,
              container.block,
              `There is no block with the id "${id}".`,
            )
        } else if (said !== undefined && said !== containerId) {
          report.add(
            'error',
            'TWO_CONTAINERS',
            `${path}.nodes`,
            inner.block,
            `The block belongs to "${said}" and to "${containerId}"; it can be in one of them only.`,
          )
        } else parents.set(id, containerId)
      }
    }
  }
  return parents
}

/** The containers around a block, innermost first; undefined when they go round in a circle. */
function chainOf(id: string, parents: Map<string, string>): string[] | undefined {
  const chain: string[] = []
  for (let parent = parents.get(id); parent !== undefined; parent = parents.get(parent)) {
    if (parent === id || chain.includes(parent)) return undefined
    chain.push(parent)
  }
  return chain
}

const startHandles = new Set(['loop-start-source', 'parallel-start-source'])
const endHandles = new Set(['loop-end-source', 'parallel-end-source', 'source'])

type Connecting = { document: WorkflowDocument; nodes: Map<string, GraphNode>; report: Report }

function connect(edge: Edge, index: number, { document, nodes, report }: Connecting): void {
  const path = `edges.${index}`
  const missing = [edge.source, edge.target].filter((id) => !Object.hasOwn(document.blocks, id))
  for (const id of missing)
    report.add(
      'error',
      'UNKNOWN_BLOCK',
      path,
      null,
      `The edge from "${edge.source}" to "${edge.target}" names "${id}", which is no block of this workflow.`,
    )
  const source = nodes.get(edge.source)
  const target = nodes.get(edge.target)
  if (!source || !target) return
  const handle = edge.sourceHandle || undefined

  if (source.body && target.scope === source.body && (handle === undefined || startHandles.has(handle))) {
    target.isStart = true
    return
  }
  // An edge from the last inner block back to its own container only draws what happens anyway.
  if (target.body && source.scope === target.body) return
  if (source.scope !== target.scope) {
    report.add(
      'error',
      'EDGE_CROSSES_CONTAINER',
      path,
      source.block,
      `The edge from "${source.block.name}" to "${target.block.name}" crosses the border of a loop or parallel. Lead it to the container, or from the container.`,
    )
    return
  }
  if (target.definition.kind === 'trigger') {
    report.add(
      'error',
      'EDGE_TO_TRIGGER',
      path,
      target.block,
      `No edge may lead to a trigger; one leads to "${target.block.name}".`,
    )
    return
  }
  const port = portOf(source, handle)
  if (port === undefined) {
    const known = handlesOf(source).join(', ')
    report.add(
      'error',
      'UNKNOWN_HANDLE',
      `${path}.sourceHandle`,
      source.block,
      `"${source.block.name}" has no handle "${handle ?? 'source'}" to leave by. It has: ${known}.`,
    )
    return
  }
  source.outgoing.push({ port, target })
  target.incoming += 1
}

function handlesOf({ block, definition }: GraphNode): string[] {
  const own = definition.ports?.(block.params ?? {}) ?? ['source']
  return definition.mayFail ? [...own, 'error'] : [...own]
}

function portOf(node: GraphNode, handle: string | undefined): string | undefined {
  if (node.body && (handle === undefined || endHandles.has(handle))) return 'source'
  const wanted = handle ?? 'source'
  return handlesOf(node).includes(wanted) ? wanted : undefined
}

function checkBody(node: GraphNode, report: Report): void {
  const path = `blocks.${node.id}`
  if (!node.body?.nodes.length) {
    report.add('error', 'EMPTY_CONTAINER', path, node.block, `The ${node.block.type} has no blocks inside.`)
  } else if (!node.body.nodes.some((inner) => inner.isStart)) {
    report.add(
      'error',
      'CONTAINER_WITHOUT_START',
      path,
      node.block,
      `No edge leads from the ${node.block.type} to a first block inside it (sourceHandle "${node.block.type}-start-source").`,
    )
  }
}

function checkTriggers(nodes: Map<string, GraphNode>, report: Report): void {
  const triggers = [...nodes.values()].filter((node) => node.definition.kind === 'trigger')
  if (triggers.length === 0)
    report.add(
      'error',
      'NO_TRIGGER',
      'blocks',
      null,
      'The workflow has no trigger, so nothing could start it. Add an api_trigger or another one.',
    )
  const seen = new Set<string>()
  for (const { id, block } of triggers) {
    if (seen.has(block.type))
      report.add(
        'error',
        'DUPLICATE_TRIGGER',
        `blocks.${id}`,
        block,
        `A workflow has at most one trigger of the type ${block.type}.`,
      )
    seen.add(block.type)
  }
}

function checkCycles(nodes: Map<string, GraphNode>, report: Report): void {
  const left = new Map([...nodes.values()].map((node) => [node, node.incoming]))
  const ready = [...nodes.values()].filter((node) => node.incoming === 0)
  for (let node = ready.pop(); node; node = ready.pop()) {
    left.delete(node)
    for (const { target } of node.outgoing) {
      const count = (left.get(target) ?? 0) - 1
      left.set(target, count)
      if (count === 0) ready.push(target)
    }
  }
  // What only lies behind a cycle waits for it too: peel it off from its end, so that the finding names the cycle itself.
  for (let peeled = true; peeled; ) {
    peeled = false
    for (const node of left.keys()) {
      if (!node.outgoing.some(({ target }) => left.has(target))) peeled = left.delete(node)
    }
  }
  const [first] = left.keys()
  if (!first) return
  const names = [...left.keys()].map((node) => `"${node.block.name}"`).join(', ')
  report.add(
    'error',
    'CYCLE',
    `blocks.${first.id}`,
    first.block,
    `These blocks wait for each other in a circle: ${names}. To repeat blocks, put them into a loop.`,
  )
}

function checkReach(nodes: Map<string, GraphNode>, report: Report): void {
  const reached = new Set<GraphNode>()
  const open = [...nodes.values()].filter((node) => node.definition.kind === 'trigger')
  for (let node = open.pop(); node; node = open.pop()) {
    if (reached.has(node)) continue
    reached.add(node)
    open.push(...node.outgoing.map(({ target }) => target))
    if (node.body) open.push(...node.body.nodes.filter((inner) => inner.isStart))
  }
  for (const node of nodes.values()) {
    if (!reached.has(node))
      report.add(
        'warning',
        'UNREACHABLE',
        `blocks.${node.id}`,
        node.block,
        `No trigger leads to "${node.block.name}": it never runs.`,
      )
  }
}
