import { type Block, type Document, isTrigger, normaliseName } from '../document/document.ts'

/** Something that can be inserted into text: `<quotes.data>` or `{{API_KEY}}`. */
export type Suggestion = {
  text: string
  /** The source: a block's name, or a kind such as “Variable”. */
  from: string
  /** The shortened value from the latest run. */
  sample?: string
}

/** Looks up a block type: the names of its outputs and, for a trigger, the kind of run it starts. */
export type OutputsOf = (type: string) => { outputs: readonly string[]; starts: string | null } | undefined

/** Outputs of blocks in the latest run, by block id. */
export type Samples = ReadonlyMap<string, unknown>

/**
 * Everything a block can refer to: outputs of upstream blocks, including the paths seen in the latest run, items of the
 * surrounding loop, and workflow variables.
 */
export function suggestionsFor(
  document: Document,
  blockId: string,
  outputsOf: OutputsOf,
  samples: Samples,
): Suggestion[] {
  const before = upstreamOf(document, blockId)
  const blocks = before.flatMap((id) => {
    const block = document.blocks[id]
    return block ? blockSuggestions(block, document, outputsOf(block.type), samples.get(id)) : []
  })
  return [...blocks, ...containerSuggestions(document, blockId), ...variableSuggestions(document)]
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

function blockSuggestions(
  block: Block,
  document: Document,
  type: ReturnType<OutputsOf>,
  sample: unknown,
): Suggestion[] {
  const name = referenceName(block, document, type?.starts ?? null)
  const sampled = isRecord(sample) ? Object.keys(sample) : []
  return [...new Set([...outputNames(block, type), ...sampled])].flatMap((output) => {
    const value = isRecord(sample) ? sample[output] : undefined
    const own = { text: `<${name}${pathStep(output)}>`, from: block.name, ...sampleOf(value) }
    return [own, ...innerPaths(`${name}${pathStep(output)}`, value, block.name, 0)]
  })
}

/** The outputs of a block: those of its type plus those named by its parameters. */
function outputNames({ type: blockType, params = {} }: Block, type: ReturnType<OutputsOf>): string[] {
  const fields = isTrigger({ type: blockType }) ? namesOf(params['inputFormat']) : []
  const assigned = blockType === 'variables' ? namesOf(params['assign']) : []
  return [...new Set([...fields, ...(type?.outputs ?? []), ...assigned])]
}

/** References to all outputs of a block. */
export function outputReferences(block: Block, document: Document, type: ReturnType<OutputsOf>): string[] {
  const name = referenceName(block, document, type?.starts ?? null)
  return outputNames(block, type).map((output) => `<${name}${pathStep(output)}>`)
}

/** The name that references use for a block: a trigger by its kind, unless a block has that name. */
export function referenceName(block: Block, document: Document, starts: string | null): string {
  const own = normaliseName(block.name)
  if (starts === null) return own
  const isHidden = Object.values(document.blocks).some(({ name }) => normaliseName(name) === starts)
  return isHidden ? own : starts
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

/** One member in a path: `.name`, or `["a name"]`. */
function pathStep(key: string): string {
  return /^[A-Za-z_$][\w$-]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`
}

function sampleOf(value: unknown): { sample?: string } {
  if (value === undefined) return {}
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return { sample: text.length > 60 ? `${text.slice(0, 57)}…` : text }
}

function containerSuggestions(document: Document, blockId: string): Suggestion[] {
  const found: Suggestion[] = []
  for (let at = document.blocks[blockId]?.parentId; at; at = document.blocks[at]?.parentId) {
    const container = document.blocks[at]
    if (!container) break
    const isNearest = !found.some(({ text }) => text.startsWith(`<${container.type}.`))
    const name = isNearest ? container.type : normaliseName(container.name)
    for (const member of ['currentItem', 'index', 'items'])
      found.push({ text: `<${name}.${member}>`, from: container.name })
  }
  return found
}

function variableSuggestions({ variables = {} }: Document): Suggestion[] {
  return Object.keys(variables).map((name) => ({ text: `<variable${pathStep(name)}>`, from: 'Variable' }))
}

function namesOf(list: unknown): string[] {
  if (!Array.isArray(list)) return []
  return list.flatMap((entry: { name?: unknown } | null) =>
    typeof entry?.name === 'string' && entry.name ? [entry.name] : [],
  )
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
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
