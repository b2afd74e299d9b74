import { isRecord } from '../../../domain/edits/same-value.ts'
import { type Block, type Document, formatOf, isTrigger, normaliseName } from '../document/document.ts'
import type { RunValues } from '../values/run-values.ts'
import { type EarlierBlock, errorLast, pathStep, valueGroups } from '../values/value-groups.ts'

/** Something that can be inserted into text: `<quotes.data>` or `{{API_KEY}}`. */
export type Suggestion = {
  text: string
  /** The source: a block's name, or a kind such as “Variable”. */
  from: string
  /** The shortened value from the latest run. */
  sample?: string
  /** Another name for the same value, such as `<api.x>`. Offered only while it is typed. */
  isAlias?: true
}

/** Looks up a block type: the names of its outputs and, for a trigger, the kind of run it starts. */
export type OutputsOf = (type: string) => { outputs: readonly string[]; starts: string | null } | undefined

/**
 * Everything a block can refer to: outputs of upstream blocks, including the paths seen in the run, items of the
 * surrounding loop, and run variables. Results come first, errors last.
 */
export function suggestionsFor(
  document: Document,
  blockId: string,
  outputsOf: OutputsOf,
  values: RunValues,
): Suggestion[] {
  const groups = valueGroups(document, blockId, values, earlierBlocks(document, blockId, outputsOf))
  const isAround = new Set(['loop', 'parallel'])
  const found = groups.map(({ label, type, members }) => {
    const from = type === undefined ? 'Run variable' : label
    const list = members.map(({ name, path, value }) => ({
      isError: name === 'error',
      all: [{ text: `<${path}>`, from, ...sampleOf(value) }, ...innerPaths(path, value, from, 0)],
    }))
    return { isAround: type !== undefined && isAround.has(type) && members[0]?.name === 'currentItem', list }
  })
  // The blocks first, then the items of loops, then what rarely helps.
  const ordered = found.toSorted((a, b) => Number(a.isAround) - Number(b.isAround)).flatMap(({ list }) => list)
  const own = [...ordered.filter(({ isError }) => !isError), ...ordered.filter(({ isError }) => isError)].flatMap(
    ({ all }) => all,
  )
  return [...own, ...aliases(document, own, outputsOf)]
}

/** The same values of triggers by the kind of run that they start, unless a block has that name. */
function aliases(document: Document, own: readonly Suggestion[], outputsOf: OutputsOf): Suggestion[] {
  const blocks = Object.values(document.blocks)
  const taken = new Set(blocks.map(({ name }) => normaliseName(name)))
  return blocks.filter(isTrigger).flatMap(({ name, type }) => {
    const kind = outputsOf(type)?.starts ?? null
    if (kind === null || taken.has(kind)) return []
    const start = `<${normaliseName(name)}.`
    return own
      .filter(({ text }) => text.startsWith(start))
      .map((suggestion) => ({ ...suggestion, text: `<${kind}.${suggestion.text.slice(start.length)}`, isAlias: true }))
  })
}

/** The blocks whose outputs a block can read, nearest first. */
export function earlierBlocks(document: Document, blockId: string, outputsOf: OutputsOf): EarlierBlock[] {
  return upstreamOf(document, blockId).flatMap((id) => {
    const block = document.blocks[id]
    if (!block) return []
    const type = outputsOf(block.type)
    return [{ id, reference: normaliseName(block.name), outputs: outputNames(block, type) }]
  })
}

/** Blocks that run before a block, nearest first: along its connections and those of the surrounding containers. */
export function upstreamOf(document: Document, blockId: string): string[] {
  const byTarget = Map.groupBy(document.edges, ({ target }) => target)
  const found = new Set<string>()
  const containers = new Set<string>()
  const next = [blockId]
  // Grows while it is read.
  for (const at of next) {
    const parent = document.blocks[at]?.parentId
    const sources = (byTarget.get(at) ?? []).map(({ source }) => source)
    // A container has not finished while its body runs. So blocks before the container count, but the container itself
    // does not.
    for (const source of [...sources.filter((id) => id !== parent), ...(parent ? [parent] : [])]) {
      if (source === parent) {
        if (!containers.has(source)) {
          containers.add(source)
          next.push(source)
        }
      } else if (!found.has(source) && source !== blockId) {
        found.add(source)
        next.push(source)
      }
    }
  }
  return [...found].filter((id) => document.blocks[id] !== undefined)
}

/** The outputs of a block: those of its type plus those named by its parameters. */
function outputNames({ type: blockType, params = {} }: Block, type: ReturnType<OutputsOf>): string[] {
  const fields = isTrigger({ type: blockType }) ? namesOf(formatOf({ type: blockType, params })) : []
  const list = namedOutputs[blockType]
  const named = list === undefined ? [] : namesOf(params[list])
  return [...new Set([...fields, ...(type?.outputs ?? []), ...named])]
}

/** The parameters whose entries name further outputs, by block type. */
const namedOutputs: Readonly<Record<string, string>> = { variables: 'assign', evaluator: 'metrics' }

/** References to all outputs of a block. */
export function outputReferences(block: Block, type: ReturnType<OutputsOf>): string[] {
  const name = normaliseName(block.name)
  return errorLast(outputNames(block, type)).map((output) => `<${name}${pathStep(output)}>`)
}

/** Paths inside a value from the latest run. */
function innerPaths(path: string, value: unknown, from: string, depth: number): Suggestion[] {
  if (depth >= depthMax) return []
  if (Array.isArray(value)) {
    return value.length === 0
      ? []
      : [{ text: `<${path}[0]>`, from, ...sampleOf(value[0]) }, ...innerPaths(`${path}[0]`, value[0], from, depth + 1)]
  }
  if (!isRecord(value)) return []
  return Object.entries(value)
    .slice(0, membersMax)
    .flatMap(([key, member]) => {
      const inner = `${path}${pathStep(key)}`
      return [{ text: `<${inner}>`, from, ...sampleOf(member) }, ...innerPaths(inner, member, from, depth + 1)]
    })
}

const depthMax = 4
const membersMax = 40

function sampleOf(value: unknown): { sample?: string } {
  if (value === undefined) return {}
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return { sample: text.length > 60 ? `${text.slice(0, 57)}…` : text }
}

function namesOf(list: unknown): string[] {
  if (!Array.isArray(list)) return []
  return list.flatMap((entry: { name?: unknown } | null) =>
    typeof entry?.name === 'string' && entry.name ? [entry.name] : [],
  )
}

/** The incomplete reference before the caret: `<que` or `{{API`. */
export function openReference(
  before: string,
): { kind: 'block' | 'environment'; start: number; typed: string } | undefined {
  const block = /<([\w.[\]"$-]*)$/.exec(before)
  if (block) return { kind: 'block', start: block.index, typed: block[1] ?? '' }
  const environment = /\{\{(\w*)$/.exec(before)
  return environment ? { kind: 'environment', start: environment.index, typed: environment[1] ?? '' } : undefined
}

/** Splits text into references and other text. */
export function splitReferences(text: string): { text: string; isReference: boolean }[] {
  const parts: { text: string; isReference: boolean }[] = []
  let at = 0
  for (const match of text.matchAll(/<[A-Za-z][^<>\n]*>|\{\{[A-Za-z_]\w*\}\}/g)) {
    if (match.index > at) parts.push({ text: text.slice(at, match.index), isReference: false })
    parts.push({ text: match[0], isReference: true })
    at = match.index + match[0].length
  }
  if (at < text.length) parts.push({ text: text.slice(at), isReference: false })
  return parts
}
