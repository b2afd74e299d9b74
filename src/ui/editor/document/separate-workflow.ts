import { deepMap } from '../../../domain/edits/deep-map.ts'
import { freeSpot, type Sizes } from '../canvas/geometry.ts'
import { withContainer } from './containers.ts'
import {
  type Block,
  type Document,
  freeName,
  handleOf,
  isContainer,
  isTrigger,
  type Loop,
  normaliseName,
  type Parallel,
  type Params,
  type Point,
  portsOf,
  positionOf,
  withInner,
} from './document.ts'
import type { Edit } from './edit.ts'
import { takeFragment } from './fragment.ts'
import { freshId } from './fresh-id.ts'
import { groupOf } from './group-edits.ts'
import { mapReferences, memberOf, type WrittenReference } from './references.ts'

/** Selected blocks as a workflow of their own, and the edits that let this workflow call it. */
export type Separation = {
  /** The new workflow: an API trigger, the blocks, and a response with everything that this workflow reads. */
  created: Document
  /** The edits of this workflow, once the new one has an id. */
  editsFor: (workflowId: string) => { edits: Edit[]; id: string }
}

/**
 * Moves blocks into a separate workflow. The new workflow receives the values that the blocks read, as one object per
 * block they come from, so that `<order.data.id>` becomes `<start.order.data.id>` and every value keeps its type.
 * Returns the reason when it cannot be done without changing how the workflow behaves.
 */
export function separate(
  document: Document,
  ids: Iterable<string>,
  { name, triggerKinds, sizes }: { name: string; triggerKinds: ReadonlyMap<string, string>; sizes: Sizes },
): Separation | { reason: string } {
  const chosen = [...ids]
  const group = groupOf(document, chosen)
  if ('reason' in group) return group
  const moved = withInner(
    document,
    group.blocks.map((block) => block.id),
  )
  const reason = reasonToStay(document, moved)
  if (reason) return { reason }
  const notes = chosen.filter((id) => document.notes?.[id])
  const scope = new Scope(document, moved, triggerKinds)
  const trigger = freeName({ ...document, blocks: pick(document, moved) }, 'Start')
  const inputs = new Values()
  const inner = mapTexts(document, moved, (text, place) =>
    mapReferences(text, (reference) => {
      if (!scope.isOutside(reference, place)) return undefined
      return `<${normaliseName(trigger)}${inputs.add(reference)}${reference.rest}>`
    }),
  )
  const caller = freeName(document, callerName(name))
  const outputs = new Values()
  const staying = new Set(Object.keys(document.blocks).filter((id) => !moved.has(id)))
  const outer = mapTexts(document, staying, (text) =>
    mapReferences(text, (reference) => {
      const source = scope.blockNamed(reference.name)
      if (!source || !moved.has(source.id)) return undefined
      return `<${normaliseName(caller)}.output.data${outputs.add(reference)}${reference.rest}>`
    }),
  )
  const created = newWorkflow(
    { ...inner, name },
    { chosen: [...moved, ...notes], entries: group.entries, trigger, inputs, outputs, sizes },
  )
  return {
    created,
    editsFor: (workflowId) => {
      const id = freshId()
      const points = group.blocks.map(positionOf)
      const corner = { x: Math.min(...points.map(({ x }) => x)), y: Math.min(...points.map(({ y }) => y)) }
      const block: Block = {
        ...{ id, type: 'workflow', name: caller, position: corner, enabled: true },
        params: { workflowId, input: inputs.templates() },
        ...(group.parentId === null ? {} : { parentId: group.parentId }),
      }
      const removed = group.crossing.flatMap((edge) => edge.id ?? [])
      const edits: Edit[] = [
        ...(removed.length > 0 ? [{ kind: 'remove', edges: removed } as const] : []),
        ...changesOf(document, outer, staying),
        // With a line in the list, no neighbours are connected.
        { kind: 'remove', blocks: group.blocks.map((one) => one.id), edges: ['-'], notes },
        { kind: 'add', block, edgeId: freshId() },
        ...group.sources.map((from) => ({ kind: 'connect', id: freshId(), ...from, target: id }) as const),
        ...group.targets.map(
          (target) => ({ kind: 'connect', id: freshId(), source: id, sourceHandle: 'source', target }) as const,
        ),
      ]
      return { edits, id }
    },
  }
}

function reasonToStay(document: Document, moved: ReadonlySet<string>): string | undefined {
  const blocks = [...moved].map((id) => document.blocks[id]!)
  const answer = blocks.find(({ type }) => type === 'response')
  if (answer) return `“${answer.name}” answers the caller of this workflow and must stay in it.`
  const assigning = blocks.find(({ type }) => type === 'variables')
  if (assigning) return `“${assigning.name}” changes the variables of this workflow and must stay in it.`
  return undefined
}

/** The name of the block that calls the new workflow. References can contain it, and it means nothing else. */
function callerName(name: string): string {
  const plain =
    name
      .replaceAll(/[<>.[\]"'\n]+/g, ' ')
      .trim()
      .slice(0, 100) || 'Workflow'
  return reserved.has(normaliseName(plain)) ? `${plain} workflow` : plain
}

const reserved = new Set('loop parallel variable args api manual schedule webhook chat form'.split(' '))

/** Decides where a reference in a moved block leads: to another moved block, or out of the group. */
class Scope {
  readonly #document: Document
  readonly #moved: ReadonlySet<string>
  readonly #byName: Map<string, Block>
  readonly #triggers: Set<string>

  constructor(document: Document, moved: ReadonlySet<string>, triggerKinds: ReadonlyMap<string, string>) {
    this.#document = document
    this.#moved = moved
    const blocks = Object.values(document.blocks)
    this.#byName = new Map(blocks.map((block) => [normaliseName(block.name), block]))
    this.#triggers = new Set(blocks.filter(isTrigger).flatMap(({ type }) => triggerKinds.get(type) ?? []))
  }

  blockNamed(name: string): Block | undefined {
    return this.#byName.get(name)
  }

  /** `place`: the block whose parameters contain the reference, or the container around its settings. */
  isOutside({ name }: WrittenReference, place: string | null): boolean {
    const block = this.#byName.get(name)
    if (block) return !this.#moved.has(block.id)
    if (name === 'variable') return true
    if (name !== 'loop' && name !== 'parallel') return this.#triggers.has(name)
    let at = place
    for (let depth = 0; at !== null && depth < 50; depth += 1) {
      const container: Block | undefined = this.#document.blocks[at]
      if (container?.type === name) return !this.#moved.has(at)
      at = container?.parentId ?? null
    }
    return false
  }
}

/** The values that are handed over, as templates: by the name of what they come from, then by member. */
class Values {
  readonly #fields = new Map<string, { field: string; members: Map<string, string> }>()
  readonly #taken = new Set<string>()
  /** The next number for fields of equal names. */
  readonly #numbers = new Map<string, number>()

  /** Adds a value; returns the path to it. */
  add({ name, first }: WrittenReference): string {
    const known = this.#fields.get(name) ?? { field: this.#free(name), members: new Map<string, string>() }
    this.#fields.set(name, known)
    known.members.set(memberOf(first), `<${name}${first}>`)
    return `.${known.field}${first}`
  }

  get fields(): string[] {
    return Array.from(this.#fields.values(), ({ field }) => field)
  }

  templates(): Record<string, Record<string, string>> {
    return Object.fromEntries(
      Array.from(this.#fields.values(), ({ field, members }) => [field, Object.fromEntries(members)] as const),
    )
  }

  /** A field name that can be part of a path. */
  #free(name: string): string {
    const plain = name.replaceAll(/[^\p{L}\p{N}_]+/gu, '_')
    let free = plain
    let number = this.#numbers.get(plain) ?? 2
    for (; this.#taken.has(free) || clashes.has(free); number += 1) free = `${plain}_${number}`
    this.#numbers.set(plain, number)
    this.#taken.add(free)
    return free
  }
}

/** Fields of an input that the service reads itself. */
const clashes = new Set(['input', 'stream', 'selectedOutputs', 'files', 'history', '__proto__', ''])

function newWorkflow(
  source: Document,
  {
    chosen,
    entries,
    trigger,
    inputs,
    outputs,
    sizes,
  }: { chosen: string[]; entries: string[]; trigger: string; inputs: Values; outputs: Values; sizes: Sizes },
): Document {
  const { blocks, edges, loops, parallels, notes } = takeFragment(source, chosen)
  const outermost = Object.values(blocks).filter(({ parentId }) => !parentId)
  const points = outermost.map(positionOf)
  const left = Math.min(...points.map(({ x }) => x))
  const top = Math.min(...points.map(({ y }) => y))
  const inputFormat = inputs.fields.map((name) => ({ name, type: 'object', value: {} }))
  const start: Block = {
    ...{ id: freshId(), type: 'api_trigger', name: trigger, position: { x: left - 314, y: top }, enabled: true },
    params: { inputFormat },
  }
  const lines = entries.map((target) => ({
    ...{ id: freshId(), source: start.id, sourceHandle: 'source', target, targetHandle: 'target' },
  }))
  const created: Document = {
    name: source.name,
    blocks: { ...blocks, [start.id]: start },
    edges: [...edges, ...lines],
    loops,
    parallels,
    notes,
  }
  if (outputs.fields.length === 0) return created
  const boxes = outermost.map((block) => ({
    ...positionOf(block),
    ...(sizes.get(block.id) ?? { width: 224, height: 85 }),
  }))
  const right = Math.max(...boxes.map(({ x, width }) => x + width))
  const position: Point = freeSpot(boxes, { x: right + 90, y: top }, { width: 224, height: 85 })
  const end: Block = {
    ...{ id: freshId(), type: 'response', name: freeName(created, 'Return'), position, enabled: true },
    params: { data: outputs.templates() },
  }
  // Every way through the blocks ends at the response, so that it always runs.
  const used = new Set(edges.map((edge) => `${edge.source} ${handleOf(source, edge)}`))
  const ends = outermost.flatMap((block) =>
    portsOf(block)
      .filter(({ kind, handle }) => (kind === 'source' || kind === 'branch') && !used.has(`${block.id} ${handle}`))
      .map(({ handle }) => ({
        ...{ id: freshId(), source: block.id, sourceHandle: handle, target: end.id, targetHandle: 'target' },
      })),
  )
  return withContainer(
    { ...created, blocks: { ...created.blocks, [end.id]: end }, edges: [...created.edges, ...ends] },
    end,
  )
}

function pick(document: Document, ids: ReadonlySet<string>): Document['blocks'] {
  return Object.fromEntries(Object.entries(document.blocks).filter(([id]) => ids.has(id)))
}

/** Maps every text of some blocks. `place` is the block, or the container around it for settings. */
function mapTexts(
  document: Document,
  ids: ReadonlySet<string>,
  map: (text: string, place: string | null) => string,
): Document {
  const blocks = { ...document.blocks }
  const loops = { ...document.loops }
  const parallels = { ...document.parallels }
  for (const id of ids) {
    const block = document.blocks[id]!
    const inside = (text: string) => map(text, block.parentId ?? null)
    if (block.params) blocks[id] = { ...block, params: deepMap(block.params, inside) as Params }
    if (!isContainer(block)) continue
    if (parallels[id]) parallels[id] = deepMap(parallels[id], inside) as Parallel
    if (!loops[id]) continue
    // The condition of a loop is checked in each iteration, everything else before the first.
    const { condition, ...rest } = loops[id]
    const settings = deepMap(rest, inside) as Loop
    loops[id] = condition === undefined ? settings : { ...settings, condition: map(condition, id) }
  }
  return { ...document, blocks, loops, parallels }
}

/** The edits that turn the texts of one document into those of another. */
function changesOf(before: Document, after: Document, ids: ReadonlySet<string>): Edit[] {
  const edits: Edit[] = []
  for (const id of ids) {
    const [params, old] = [after.blocks[id]?.params, before.blocks[id]?.params]
    if (params && params !== old) edits.push({ kind: 'set', id, params })
    const settings = after.loops?.[id] ?? after.parallels?.[id]
    const oldSettings = before.loops?.[id] ?? before.parallels?.[id]
    if (settings && JSON.stringify(settings) !== JSON.stringify(oldSettings))
      edits.push({ kind: 'container', id, settings: settings as Params })
  }
  return edits
}
