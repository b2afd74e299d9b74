import { type PathStep, readPath, type Segment } from '../../domain/workflow/reference.ts'
import { triggerKinds } from '../../domain/workflow/workflow.ts'
import { BlockError } from '../block.ts'
import type { Frame, Getter } from '../run/frame.ts'
import type { Graph, GraphNode, GraphScope } from './graph.ts'
import type { Report } from './report.ts'

type Reference = Extract<Segment, { kind: 'reference' }>

/** Resolves each reference of one workflow to a getter, once, according to the scope that contains it. */
export class ReferenceResolver {
  readonly #byName: Map<string, GraphNode>
  readonly #triggers: Map<string, GraphNode>
  readonly #variables: ReadonlySet<string>
  readonly #report: Report
  /** Names of the environment variables in the workflow. */
  readonly environmentNames = new Set<string>()
  /** Ids of blocks whose outputs another block reads, other than a `response` block. */
  readonly readBlocks = new Set<string>()
  /** The ids of the blocks whose outputs each block reads, by block id; `response` blocks included. */
  readonly reads = new Map<string, Set<string>>()

  constructor(graph: Graph, variables: ReadonlySet<string>, report: Report) {
    const nodes = [...graph.nodes.values()]
    this.#byName = new Map(nodes.map((node) => [node.name, node]))
    this.#triggers = new Map(
      nodes.filter(({ definition }) => definition.starts).map((node) => [node.definition.starts ?? '', node]),
    )
    this.#variables = variables
    this.#report = report
  }

  /** The getter of a segment; undefined for literal text that only looks like a reference. */
  resolve(segment: Exclude<Segment, { kind: 'text' }>, place: Place): Getter | undefined {
    if (segment.kind === 'environment') return this.#environment(segment.name)
    const { args } = place
    if (args && segment.name === 'args') return () => readPath(args.current, segment.path)
    const node = this.#byName.get(segment.name)
    if (node) return this.#block(node, segment, place)
    switch (segment.name) {
      case 'loop':
      case 'parallel':
        return this.#container(segment, place)
      case 'variable':
        return this.#variable(segment, place)
      default:
        break
    }
    const trigger = this.#triggers.get(segment.name)
    if (trigger) return this.#block(trigger, segment, place)
    if ((triggerKinds as readonly string[]).includes(segment.name)) {
      this.#warn(
        place,
        'UNKNOWN_REFERENCE',
        `${segment.source} refers to a ${segment.name} trigger, but the workflow has none. It is used as plain text.`,
      )
    } else {
      this.#warn(
        place,
        'UNKNOWN_REFERENCE',
        `${segment.source} refers to no block of this workflow. It is used as plain text.`,
      )
    }
    return undefined
  }

  #environment(name: string): Getter {
    this.environmentNames.add(name)
    return (frame) => {
      const value = frame.run.environment.values.get(name)
      if (value === undefined) {
        throw new BlockError(
          'ENVIRONMENT_VARIABLE_MISSING',
          `The environment variable {{${name}}} is not set in this workspace.`,
        )
      }
      return value
    }
  }

  #block(node: GraphNode, { path, source }: Reference, place: Place): Getter {
    const { slot } = node
    if (place.node.block.type !== 'response') this.readBlocks.add(node.id)
    const read = this.reads.get(place.node.id)
    if (read) read.add(node.id)
    else this.reads.set(place.node.id, new Set([node.id]))
    if (node.body && encloses(node.body, place.scope) && isIterationStep(path[0])) {
      return iterationGetter(hopsTo(place.scope, node.body), path)
    }
    if (!encloses(node.scope, place.scope)) {
      this.#warn(
        place,
        'INNER_BLOCK',
        `${source} refers to a block inside a loop or parallel, but stands outside. It is always null there: ` +
          "use the container's results instead.",
      )
      return () => null
    }
    const hops = hopsTo(place.scope, node.scope)
    if (hops === 0) return (frame) => readPath(frame.outputs[slot], path)
    return (frame) => readPath(up(frame, hops).outputs[slot], path)
  }

  #container({ name, path, source }: Reference, place: Place): Getter {
    let hops = 0
    for (let scope: GraphScope | undefined = place.scope; scope; scope = scope.parent, hops += 1) {
      if (scope.container?.block.type === name) return iterationGetter(hops, path)
    }
    this.#warn(place, 'NOT_IN_CONTAINER', `${source} is not inside a ${name}, so it is always null.`)
    return () => null
  }

  #variable({ path, source }: Reference, place: Place): Getter {
    const [name, ...rest] = path
    const key = String(name)
    if (!this.#variables.has(key)) {
      this.#warn(place, 'UNKNOWN_VARIABLE', `${source} refers to no variable of this workflow, so it is always null.`)
    }
    return (frame) => readPath(frame.run.variables.get(key), rest)
  }

  #warn(place: Place, code: string, message: string): void {
    this.#report.add('warning', code, place.path, place.node.block, message)
  }
}

/** The place of a parameter: its block, the scope in which its references are resolved, and its path for findings. */
export type Place = {
  node: GraphNode
  scope: GraphScope
  path: string
  /** Set for the parameters of a tool: `<args.x>` reads these arguments. */
  args?: ToolArguments
}

/**
 * The arguments of the tool call whose parameters are being filled in. That is synchronous, so there is only one at a
 * time.
 */
export class ToolArguments {
  #current: Readonly<Record<string, unknown>> | undefined

  get current(): Readonly<Record<string, unknown>> | undefined {
    return this.#current
  }

  during<Value>(args: Readonly<Record<string, unknown>>, fill: () => Value): Value {
    this.#current = args
    try {
      return fill()
    } finally {
      this.#current = undefined
    }
  }
}

const iterationSteps = new Set<PathStep>(['index', 'currentItem', 'items'])
const isIterationStep = (step: PathStep | undefined) => step !== undefined && iterationSteps.has(step)

function iterationGetter(hops: number, path: readonly PathStep[]): Getter {
  return (frame) => readPath(up(frame, hops).iteration, path)
}

function up(frame: Frame, hops: number): Frame {
  let current = frame
  for (let left = hops; left > 0 && current.parent; left -= 1) current = current.parent
  return current
}

function encloses(outer: GraphScope, inner: GraphScope): boolean {
  for (let scope: GraphScope | undefined = inner; scope; scope = scope.parent) if (scope === outer) return true
  return false
}

function hopsTo(from: GraphScope, to: GraphScope): number {
  let hops = 0
  for (let scope: GraphScope | undefined = from; scope && scope !== to; scope = scope.parent) hops += 1
  return hops
}
