import { limitSettings } from '../../domain/limits.ts'
import { type PathStep, readPath, type Segment } from '../../domain/workflow/reference.ts'
import { startKinds } from '../../domain/workflow/workflow.ts'
import { BlockError } from '../block.ts'
import type { Frame, Getter } from '../run/frame.ts'
import type { Graph, GraphNode, GraphScope } from './graph.ts'
import type { Report } from './report.ts'
import { unknownOutput } from './unknown-outputs.ts'
import { EnvironmentUses } from './unset-variables.ts'

type Reference = Extract<Segment, { kind: 'reference' }>

/** The value that a reference in a block's parameters names. `source`: as written, such as `<order.data.id>`. */
export type PlanReference = { source: string; path: readonly PathStep[]; of: ReferenceTarget }

/** `iteration`: of the loop or parallel with this id. */
export type ReferenceTarget =
  | { kind: 'block'; id: string }
  | { kind: 'iteration'; id: string }
  | { kind: 'variable'; name: string }

/** Resolves each reference of one workflow to a getter, once, according to the scope that contains it. */
export class ReferenceResolver {
  readonly #byName: Map<string, GraphNode>
  readonly #triggers: Map<string, GraphNode>
  readonly #variables: ReadonlySet<string>
  readonly #report: Report
  readonly #max: number
  #count = 0
  /** Names of the environment variables in the workflow. */
  readonly environmentNames = new Set<string>()
  /** The places where they are. */
  readonly environmentUses = new EnvironmentUses()
  /** Ids of blocks whose outputs another block reads, other than a `response` block. */
  readonly readBlocks = new Set<string>()
  /** The ids of the blocks whose outputs each block reads, by block id; `response` blocks included. */
  readonly reads = new Map<string, Set<string>>()
  /** The references of each block that can have a value, by block id and source. */
  readonly references = new Map<string, Map<string, PlanReference>>()

  /** `max`: the most references of the document. Each one becomes a function, which takes some hundred bytes. */
  constructor(graph: Graph, variables: ReadonlySet<string>, report: Report, max: number) {
    const nodes = [...graph.nodes.values()]
    this.#byName = new Map(nodes.map((node) => [node.name, node]))
    this.#triggers = new Map(
      nodes.filter(({ definition }) => definition.starts).map((node) => [node.definition.starts ?? '', node]),
    )
    this.#variables = variables
    this.#report = report
    this.#max = max
  }

  /** The getter of a segment; undefined for literal text that only looks like a reference. */
  resolve(segment: Exclude<Segment, { kind: 'text' }>, place: Place): Getter | undefined {
    if (this.#isTooMany(place)) return undefined
    if (segment.kind === 'environment') return this.#environment(segment.name, place)
    const given = place.given?.find(({ name }) => name === segment.name)
    if (given) return () => readPath(given.values.current, segment.path)
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
    if ((startKinds as readonly string[]).includes(segment.name)) {
      this.#warn(
        place,
        'UNKNOWN_REFERENCE',
        `${segment.source} refers to the ${segment.name} trigger, but the workflow has none. It is used as plain text.`,
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

  /** Notes an environment variable in a literal parameter, which has no getter. */
  noteVariable(name: string, place: Place): void {
    if (!this.#isTooMany(place)) this.environmentUses.add(name, place.path, place.node)
  }

  /** Counts a reference. Reports the first one that is too many. */
  #isTooMany({ path, node: { block } }: Place): boolean {
    this.#count += 1
    if (this.#count <= this.#max) return false
    if (this.#count > this.#max + 1) return true
    const message =
      `The workflow has more than ${this.#max} references, with those in "${block.name}" ` +
      `(${limitSettings.documentReferencesMax}). Further ones are not read. Split the workflow, or pass larger values.`
    this.#report.add('error', 'TOO_MANY_REFERENCES', path, block, message)
    return true
  }

  #environment(name: string, { path, node }: Place): Getter {
    this.environmentNames.add(name)
    this.environmentUses.add(name, path, node)
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
    if (place.own && node === place.node) {
      const { own } = place
      return () => readPath(own.current, path)
    }
    const { slot } = node
    if (place.node.block.type !== 'response') this.readBlocks.add(node.id)
    const read = this.reads.get(place.node.id)
    if (read) read.add(node.id)
    else this.reads.set(place.node.id, new Set([node.id]))
    if (node.body && encloses(node.body, place.scope) && isIterationStep(path[0])) {
      this.#note(place, { source, path, of: { kind: 'iteration', id: node.id } })
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
    const isNew = !this.references.get(place.node.id)?.has(source)
    const message = isNew ? unknownOutput(source, path, node) : undefined
    if (message !== undefined) this.#warn(place, 'UNKNOWN_OUTPUT', message)
    this.#note(place, { source, path, of: { kind: 'block', id: node.id } })
    const hops = hopsTo(place.scope, node.scope)
    if (hops === 0) return (frame) => readPath(frame.outputs[slot], path)
    return (frame) => readPath(up(frame, hops).outputs[slot], path)
  }

  #container({ name, path, source }: Reference, place: Place): Getter {
    let hops = 0
    for (let scope: GraphScope | undefined = place.scope; scope; scope = scope.parent, hops += 1) {
      const { container } = scope
      if (container?.block.type !== name) continue
      this.#note(place, { source, path, of: { kind: 'iteration', id: container.id } })
      return iterationGetter(hops, path)
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
    this.#note(place, { source, path: rest, of: { kind: 'variable', name: key } })
    return (frame) => readPath(frame.run.variables.get(key), rest)
  }

  #note({ node }: Place, reference: PlanReference): void {
    const known = this.references.get(node.id)
    if (known) known.set(reference.source, reference)
    else this.references.set(node.id, new Map([[reference.source, reference]]))
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
  /** Values that only this parameter can read, such as the arguments of a tool: `<args.x>`. */
  given?: readonly { name: string; values: GivenValues }[]
  /** Set for a parameter that reads the outputs of its own block. */
  own?: GivenValues
}

/**
 * The values that a parameter can read only while it is filled in, such as the arguments of a tool call. That is
 * synchronous, so there is only one set of them at a time.
 */
export class GivenValues {
  #current: Readonly<Record<string, unknown>> | undefined

  get current(): Readonly<Record<string, unknown>> | undefined {
    return this.#current
  }

  during<Value>(values: Readonly<Record<string, unknown>>, fill: () => Value): Value {
    this.#current = values
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
