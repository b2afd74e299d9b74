import { itemsOf } from '../../../domain/run/items.ts'
import { type PathStep, parseTemplate, readPath } from '../../../domain/workflow/reference.ts'
import { type Block, type Document, isContainer, normaliseName } from '../document/document.ts'
import { entriesOf, type RunEntry, type RunState, shownEntry } from '../run/run-state.ts'

/** The values that one pass of a block can refer to, in the run that is shown. */
export type RunValues = {
  /** Outputs by block id. */
  outputs: ReadonlyMap<string, unknown>
  /** The members that the outputs of other blocks will have, by block id, with undefined as values. */
  expected?: ReadonlyMap<string, unknown>
  /** The iteration of each surrounding loop and parallel, by its id; innermost first. */
  iterations: ReadonlyMap<string, { index: number; currentItem?: unknown; items?: readonly unknown[] | null }>
  /** The values of the workflow's variables. */
  variables: ReadonlyMap<string, unknown>
}

export const noValues: RunValues = { outputs: new Map(), iterations: new Map(), variables: new Map() }

/** `iterations`: of the pass, outermost first. `samples`: the outputs of triggers that did not run, by block id. */
export function runValues(
  document: Document,
  blockId: string,
  run: Pick<RunState, 'entries' | 'before'>,
  iterations: readonly number[],
  startsOf: (type: string) => string | null,
): RunValues {
  const outputs = new Map<string, unknown>()
  for (const block of Object.values(document.blocks)) {
    const output = outputOf(entriesOf(run, block.id), block.id, iterations) ?? sampleOf(block)
    if (output !== undefined) outputs.set(block.id, output)
  }
  const variables = new Map(Object.entries(document.variables ?? {}).map(([name, { value }]) => [name, value]))
  for (const { type, span } of run.before?.entries ?? run.entries) {
    if (type !== 'variables' || span?.status !== 'success') continue
    for (const [name, value] of Object.entries((span.output ?? {}) as object)) variables.set(name, value)
  }
  const values: RunValues = { outputs, iterations: new Map(), variables }
  // From outside to inside, because the list of an inner loop may come from the item of an outer one.
  const containers = containersOf(document, blockId).toReversed()
  for (const [depth, container] of containers.entries()) {
    const list = itemsOf(listOf(container, document, values, startsOf)) ?? null
    const isList = listParameter(container, document) !== undefined
    const index = iterations[depth] ?? 0
    const iteration = { index, ...(isList ? { currentItem: list?.[index], items: list } : { currentItem: index }) }
    values.iterations = new Map([[container.id, iteration], ...values.iterations])
  }
  return values
}

/** The containers around a block, innermost first. */
export function containersOf(document: Document, blockId: string): Block[] {
  const found: Block[] = []
  for (let at = document.blocks[blockId]?.parentId; at; at = document.blocks[at]?.parentId) {
    const container = document.blocks[at]
    if (!container || found.includes(container)) break
    found.push(container)
  }
  return found
}

/** The output of a block that a pass in these iterations reads. */
function outputOf(entries: readonly RunEntry[], blockId: string, iterations: readonly number[]): unknown {
  const passes = entries.filter(
    ({ blockId: id, depth, span }) => id === blockId && depth === 0 && span && span.status !== 'skipped',
  )
  const own = passes.findLast(({ iterations: at }) => at.every((index, depth) => iterations[depth] === index))
  const entry = own ?? shownEntry(passes, blockId)
  return entry?.span?.output ?? undefined
}

/** The samples of a trigger's input format. */
function sampleOf({ type, params }: Block): unknown {
  const format = params?.['inputFormat']
  if ((type !== 'api_trigger' && type !== 'manual_trigger') || !Array.isArray(format)) return undefined
  const fields = Object.fromEntries(
    format.flatMap((field: { name?: unknown; value?: unknown } | null) =>
      typeof field?.name === 'string' && field.value !== undefined && field.value !== ''
        ? [[field.name, field.value]]
        : [],
    ),
  )
  return Object.keys(fields).length === 0 ? undefined : { ...fields, input: fields }
}

function listParameter({ id }: Block, document: Document): unknown {
  const loop = document.loops?.[id]
  if (loop?.loopType === 'forEach') return loop.forEachItems ?? ''
  const parallel = document.parallels?.[id]
  return parallel && parallel.parallelType !== 'count' ? (parallel.distribution ?? '') : undefined
}

/** The list of a loop: as written, or the value of the one reference that it is. */
function listOf(container: Block, document: Document, values: RunValues, startsOf: StartsOf): unknown {
  const written = listParameter(container, document)
  if (typeof written !== 'string') return written
  const [only, ...more] = parseTemplate(written.trim())
  if (only?.kind !== 'reference' || more.length > 0) return written
  return lookUp(only, { document, blockId: container.id, values, startsOf })?.value
}

type StartsOf = (type: string) => string | null
export type Place = { document: Document; blockId: string; values: RunValues; startsOf: StartsOf }

/**
 * The value of a reference in a block, as the engine resolves it; undefined when it names nothing of the workflow, so
 * that it is plain text.
 */
export function lookUp(
  { name, path }: { name: string; path: readonly PathStep[] },
  { document, blockId, values, startsOf }: Place,
): { value: unknown } | undefined {
  const blocks = Object.values(document.blocks)
  const containers = containersOf(document, blockId)
  const own = blocks.find((block) => normaliseName(block.name) === name)
  if (own) {
    const isAround = containers.includes(own)
    if (isAround && iterationMembers.has(path[0])) return { value: readPath(values.iterations.get(own.id), path) }
    return { value: outputAt(values.outputs.get(own.id), path) }
  }
  if (name === 'loop' || name === 'parallel') {
    const container = containers.find((block) => isContainer(block) && block.type === name)
    return { value: container && readPath(values.iterations.get(container.id), path) }
  }
  if (name === 'variable') {
    const [variable, ...rest] = path
    return { value: readPath(values.variables.get(String(variable)), rest) }
  }
  const trigger = blocks.find(({ type }) => startsOf(type) === name)
  return trigger && { value: outputAt(values.outputs.get(trigger.id), path) }
}

const iterationMembers = new Set<PathStep | undefined>(['index', 'currentItem', 'items'])

/** A step that succeeded has no error. */
function outputAt(outputs: unknown, path: readonly PathStep[]): unknown {
  const value = readPath(outputs, path)
  return value === undefined && outputs !== undefined && path.length === 1 && path[0] === 'error' ? null : value
}

/** Whether a value is incomplete: it has a secret that was replaced by its name, or was shortened. */
export function isIncomplete(value: unknown, secretNames: readonly string[]): boolean {
  if (value === null || value === undefined) return false
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (secretNames.some((name) => text.includes(`{{${name}}}`))) return true
  return text.includes('"truncated":true') && text.includes('"preview":')
}
