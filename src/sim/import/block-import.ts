import { isObject, setMember } from '../../domain/run/input.ts'
import type { Slices } from '../../domain/slices.ts'
import { normaliseName } from '../../domain/workflow/reference.ts'
import type { Block, Edge, Loop, Note, Parallel } from '../../domain/workflow/workflow.ts'
import { mapService } from '../services/map-service.ts'
import { objectOf, type SimBlock, type SimDocument, type SimEdge } from '../sim-document.ts'
import { containerMapping, inOrder, loopOf, parallelOf, parentsOf, type Settings } from './containers.ts'
import { coreMappers } from './core/map-core.ts'
import { removeKeptSecrets } from './kept-secrets.ts'
import { lostValues } from './lost-values.ts'
import { isMapped, type MappedBlock, type Mapping } from './mapping.ts'
import { Names, startOf } from './names.ts'
import { notesOf } from './notes.ts'
import { type Native, nativeOf, originalOf } from './original.ts'
import { Report } from './report.ts'
import { SimValues } from './sim-values.ts'
import { type ReferencedBlock, Translator } from './translate.ts'

/** The blocks here at which the edges of a block in the file start (`last`) and end (`first`). */
type Ends = { first: string; last: string; handle: ((edge: SimEdge) => string | undefined) | undefined }

/** In old files, all outputs of these blocks were members of `response`. */
const hadResponse = new Set(['agent', 'api', 'function', 'condition', 'router'])

/** Converts the blocks of one workflow, and collects the report. */
export class BlockImport {
  readonly blocks = new Map<string, Block>()
  readonly loops = new Map<string, Loop>()
  readonly parallels = new Map<string, Parallel>()
  readonly notesOnCanvas = new Map<string, Note>()
  readonly innerEdges: Edge[] = []
  readonly report = new Report()
  /** Parts of the file that have no place in the document. */
  readonly lost: Record<string, unknown> = {}
  readonly #sim: SimDocument
  readonly #names = new Names()
  /** Our block IDs, by the IDs in the file. */
  readonly #ids = new Map<string, string>()
  readonly #ends = new Map<string, Ends>()
  readonly #parents: ReadonlyMap<string, string>
  /** By the normalised name in the file. The first block of a name wins, as in Sim. */
  readonly #referenced = new Map<string, ReferencedBlock>()
  /** Blocks whose references are still in Sim's form. `called`: the name in the report. */
  readonly #untranslated: { id: string; called: string }[] = []
  readonly #lostOfNotes = new Map<string, unknown>()
  readonly #natives = new Map<string, Native>()

  constructor(sim: SimDocument) {
    this.#sim = sim
    for (const id of sim.blocks.keys()) {
      const kept = this.#names.keepId(id)
      if (kept !== undefined) this.#ids.set(id, kept)
    }
    for (const id of sim.blocks.keys()) if (!this.#ids.has(id)) this.#ids.set(id, this.#names.idFor('block'))
    const { parents, notes } = parentsOf(sim)
    this.#parents = parents
    this.report.addNotes(notes)
  }

  *map(): Slices<void> {
    for (const block of this.#sim.blocks.values()) {
      if (block.type === 'note') this.#addNote(block)
      else this.#addBlock(block)
      yield
    }
    if (this.#lostOfNotes.size > 0) this.lost['notes'] = Object.fromEntries(this.#lostOfNotes)
    yield* this.#addContainers()
  }

  *translate(variables: readonly string[]): Slices<void> {
    const byName = new Map(variables.map((name) => [normaliseName(name), name]))
    for (const { id, called } of this.#untranslated) {
      const translator = new Translator(this.#referenced, byName)
      const block = this.blocks.get(id)
      if (block?.params) {
        block.params = objectOf(yield* translator.value(block.params))
        if (block.type === 'variables') block.params = withNames(block.params, byName)
        const native = this.#natives.get(id)
        for (const [name, value] of Object.entries(native?.params ?? {})) setMember(block.params, name, value)
        for (const name of native?.without ?? []) delete block.params[name]
      }
      for (const containers of [this.loops, this.parallels] as Map<string, object>[]) {
        const container = containers.get(id)
        if (container) containers.set(id, objectOf(yield* translator.value(container)))
      }
      for (const [source, reason] of translator.problems) {
        this.report.note(called, `The reference ${source} is not translated, because ${reason}.`)
      }
      yield
    }
  }

  *removeSecrets(): Slices<void> {
    for (const block of this.blocks.values()) {
      const note = removeKeptSecrets(block)
      if (note !== undefined) this.report.note(block.name, note)
      yield
    }
  }

  /** The names of the variables that blocks set. */
  assignedNames(): string[] {
    return [...this.blocks.values()].flatMap(({ type, params }) => {
      const assign: unknown = type === 'variables' ? params?.['assign'] : undefined
      return Array.isArray(assign) ? assign.flatMap((each: unknown) => String(objectOf(each)['name'] ?? '')) : []
    })
  }

  startOf(id: string): string | undefined {
    return this.#ends.get(id)?.first
  }

  /** Where an edge starts. An error edge starts at the first block, which may fail, and any other edge at the last. */
  endOf(edge: SimEdge): { source: string; handle: string | undefined } | undefined {
    const ends = this.#ends.get(edge.source)
    if (!ends) return undefined
    if (edge.sourceHandle === 'error') return { source: ends.first, handle: 'error' }
    return { source: ends.last, handle: ends.handle ? ends.handle(edge) : edge.sourceHandle }
  }

  #addNote(block: SimBlock): void {
    const id = this.#ids.get(block.id)!
    for (const [index, note] of notesOf(id, block).entries()) {
      const key = index === 0 ? id : this.#names.idFor(note.id)
      this.notesOnCanvas.set(key, { ...note, id: key })
    }
    const rest = [...block.values].filter(([name]) => name !== 'content' && name !== 'color' && name !== 'format')
    if (rest.length > 0) this.#lostOfNotes.set(id, Object.fromEntries(rest))
    this.report.mapped.push({ blockId: id, from: 'note', to: 'note' })
  }

  #addBlock(block: SimBlock): void {
    const id = this.#ids.get(block.id)!
    const name = this.#names.nameFor(block.name, block.type)
    if (name !== block.name) this.report.addNotes([`The block "${block.name}" is now called "${name}".`])
    const native = nativeOf(block)
    const values = new SimValues(block.values)
    values.drop('millrace')
    const mapping = native?.type === undefined ? this.#mapping(block, values) : undefined
    const base = this.#base(block, id, name)
    if (native?.type !== undefined) this.#addNative(block, base, native)
    else if (mapping && isMapped(mapping)) this.#addMapped(block, base, mapping, values, native)
    else this.#addPlaceholder(block, base, mapping?.needs ?? needsOf(block))
  }

  #mapping(block: SimBlock, values: SimValues): Mapping | undefined {
    if (block.type === 'loop' || block.type === 'parallel') return containerMapping(block.type)
    const input = { block, values, document: this.#sim }
    return coreMappers.get(block.type)?.(input) ?? mapService(input)
  }

  #base({ id: before, position, enabled }: SimBlock, id: string, name: string): Omit<Block, 'type'> {
    const parent = this.#parents.get(before)
    const parentId = parent === undefined ? undefined : this.#ids.get(parent)
    return { id, name, position, enabled, ...(parentId === undefined ? {} : { parentId }) }
  }

  #addNative(block: SimBlock, base: Omit<Block, 'type'>, { type = '', params, origin }: Native): void {
    this.blocks.set(base.id, { ...base, type, params: { ...params }, ...(origin ? { origin } : {}) })
    this.#ends.set(block.id, { first: base.id, last: base.id, handle: undefined })
    this.#refer(block, { name: base.name, hadResponse: false })
    this.report.mapped.push({ blockId: base.id, from: block.type, to: type })
  }

  #addMapped(
    block: SimBlock,
    base: Omit<Block, 'type'>,
    mapping: MappedBlock,
    values: SimValues,
    native: Native | undefined,
  ): void {
    const { type, params, then = [], beside = [], kept = {}, credentials = [], notes = [], output } = mapping
    const { id, name } = base
    const rest = values.rest()
    const lost = lostValues(values.taken(), { params, kept, then, beside })
    const retry = block.original['retry']
    const keptValues = {
      ...Object.fromEntries([...rest, ...lost]),
      ...{ ...kept, ...(isObject(retry) ? { retry } : {}) },
    }
    const hasValues = Object.keys(keptValues).length > 0
    const origin = { type: block.type, ...(hasValues ? { values: keptValues } : {}) }
    const shown = native?.origin === undefined ? origin : native.origin
    this.blocks.set(id, { ...base, type, params, ...(shown === null ? {} : { origin: shown }) })
    this.#untranslated.push({ id, called: name })
    if (native) this.#natives.set(id, native)
    this.report.mapped.push({ blockId: id, from: block.type, to: type })
    this.report.addCredentials(credentials, id)
    for (const note of notes) this.report.note(name, note)
    this.report.noteRest(name, [...rest.map(([each]) => each), ...(isObject(retry) ? ['retry'] : [])])
    if (lost.length > 0) {
      const names = lost.map(([each]) => each).join(', ')
      this.report.note(name, `Parts of these settings are kept but have no effect here: ${names}.`)
    }
    this.#refer(block, { name, output, hadResponse: hadResponse.has(type) && params['responseFormat'] === undefined })

    let last = id
    let leaves: string | undefined
    for (const [index, next] of then.entries()) {
      const nextId = this.#names.idFor(`${id}-${next.suffix}`)
      const nextName = this.#names.nameFor(next.name, next.type)
      this.blocks.set(nextId, {
        ...{ ...base, id: nextId, name: nextName, type: next.type, params: next.params },
        position: beyond(base, 300 * (index + 1), 0),
      })
      this.#untranslated.push({ id: nextId, called: nextName })
      this.innerEdges.push({ source: last, target: nextId, sourceHandle: leaves ?? 'source' })
      last = nextId
      leaves = next.leaves
    }
    const { handle } = mapping
    const handleOf = handle ?? (leaves === undefined ? undefined : () => leaves)
    this.#ends.set(block.id, { first: id, last, handle: handleOf })

    for (const [index, part] of beside.entries()) {
      const partId = this.#names.idFor(`${id}-${part.suffix}`)
      const partName = this.#names.nameFor(part.name, part.from)
      this.blocks.set(partId, {
        ...{ ...base, id: partId, name: partName, type: 'placeholder', position: beyond(base, 0, 200 * (index + 1)) },
        params: { needs: part.needs, original: part.original },
        origin: { type: part.from, values: { ...part.values } },
      })
      this.report.placeholders.push({ blockId: partId, name: partName, from: part.from, needs: part.needs })
      if (part.leaves !== undefined) this.innerEdges.push({ source: id, target: partId, sourceHandle: part.leaves })
    }
  }

  #addPlaceholder(block: SimBlock, base: Omit<Block, 'type'>, needs: string): void {
    const params = { needs, original: originalOf(block) }
    this.blocks.set(base.id, { ...base, type: 'placeholder', params, origin: { type: startOf(block.type, 200) } })
    this.#ends.set(block.id, { first: base.id, last: base.id, handle: undefined })
    this.#refer(block, { name: base.name, hadResponse: false })
    this.report.placeholders.push({ blockId: base.id, name: base.name, from: block.type, needs })
  }

  #refer({ name, type }: SimBlock, block: ReferencedBlock): void {
    const called = normaliseName(name === '' ? type : name)
    if (!this.#referenced.has(called)) this.#referenced.set(called, block)
  }

  *#addContainers(): Slices<void> {
    const inside = new Map<string, string[]>()
    for (const { id, parentId } of this.blocks.values()) {
      if (!parentId) continue
      const list = inside.get(parentId)
      if (list) list.push(id)
      else inside.set(parentId, [id])
    }
    for (const block of this.#sim.blocks.values()) {
      const { id: before, type } = block
      const id = this.#ids.get(before)!
      const entry = type === 'loop' ? this.#sim.loops.get(before) : this.#sim.parallels.get(before)
      yield
      const listed = (entry?.nodes ?? []).map((node) => this.#ids.get(node) ?? node)
      const nodes = inOrder(inside.get(id) ?? [], listed)
      if (type === 'loop') this.#addContainer(id, loopOf(block, entry), this.loops, nodes)
      if (type === 'parallel') this.#addContainer(id, parallelOf(block, entry), this.parallels, nodes)
    }
    for (const kind of ['loops', 'parallels'] as const) {
      const type = kind === 'loops' ? 'loop' : 'parallel'
      const alone = [...this.#sim[kind]].filter(([id]) => this.#sim.blocks.get(id)?.type !== type)
      if (alone.length === 0) continue
      this.lost[kind] = Object.fromEntries(alone.map(([id, { settings }]) => [id, settings]))
      this.report.addNotes([`The settings of ${alone.length} ${kind} were skipped: the file has no blocks for them.`])
    }
  }

  #addContainer(
    id: string,
    { settings, kept, unknown }: Settings,
    containers: Map<string, object>,
    nodes: string[],
  ): void {
    containers.set(id, { id, nodes, ...settings })
    const block = this.blocks.get(id)
    const all = { ...kept, ...unknown }
    if (!block?.origin || Object.keys(all).length === 0) return
    block.origin = { ...block.origin, values: { ...block.origin.values, ...all } }
    this.report.noteRest(block.name, Object.keys(unknown))
  }
}

function needsOf({ type, triggerMode }: SimBlock): string {
  if (type === '') return 'a type: the file does not name one'
  return triggerMode ? `a trigger for "${type}"` : `a replacement for Sim's block type "${type}"`
}

function beyond({ position }: Omit<Block, 'type'>, x: number, y: number): { x: number; y: number } {
  return { x: (position?.x ?? 0) + x, y: (position?.y ?? 0) + y }
}

/** Renames the variables that a block sets to their names in the document. */
function withNames(params: Record<string, unknown>, names: ReadonlyMap<string, string>): Record<string, unknown> {
  const assign: unknown[] = Array.isArray(params['assign']) ? params['assign'] : []
  const renamed = assign.map((each) => {
    const { name, ...rest } = objectOf(each)
    return { name: names.get(normaliseName(String(name))) ?? name, ...rest }
  })
  return { ...params, assign: renamed }
}
