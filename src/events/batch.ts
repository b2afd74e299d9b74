import { finalOutputBytesMax, spanValueBytesMax } from '../domain/limits.ts'
import { type Redactor, redactText } from '../domain/redaction/redactor.ts'
import { StreamRedactor } from '../domain/redaction/stream-redactor.ts'
import { type Cost, type ModelUsage, noCost } from '../domain/run/cost.ts'
import type { LogRow, RunFailure, RunRecord, Span } from '../domain/run/log.ts'
import { filesOf, isPlain, notesOf } from './row-notes.ts'
import { attemptText, pauseText } from './span-parts.ts'
import { newHead, numberText, type SpanHead, SpanPieces } from './span-pieces.ts'

/** Builds the row of an ended run. `texts`: those of a large record, from `large-record.ts`. */
export type Fold = (record: RunRecord, sequence: number, texts?: RecordTexts) => LogRow

/**
 * A fold that writes JSON by hand, because it runs once per finished run, in the thread that serves requests. Pure
 * except for the texts it caches. An object that appears in several places (a block's output and the run's) is written
 * once.
 *
 * Secrets are removed from every text that a user can influence, before anything is cut: half a secret could not be
 * recognised. Our own member names, ids, types and numbers stay as they are, whatever a secret contains.
 */
export function createFold(): Fold {
  const pieces = new SpanPieces()
  return (record, sequence, texts = new Texts(record.output, record.secrets)) => {
    const { failure, secrets } = record
    const cost = secrets && record.cost !== noCost ? withoutSecrets(record.cost, secrets) : record.cost
    const finalOutput = failure === null ? texts.finalOutput() : failureText(failure, secrets)
    return {
      sequence,
      executionId: record.executionId,
      workflowId: record.workflowId,
      workspaceId: record.workspaceId,
      version: record.version,
      level: failure === null ? 'info' : 'error',
      trigger: record.trigger,
      createdAt: record.createdAt,
      startedAt: record.startedAt,
      endedAt: record.endedAt,
      durationMs: record.durationMs,
      ...(record.pausedMs === undefined ? undefined : { pausedMs: record.pausedMs }),
      costTotal: record.cost.total,
      models: cost === noCost ? noModels : Object.keys(cost.models),
      cost: isFree(cost) ? null : JSON.stringify(cost),
      rawOutput: failure || record.createdAt === null || !secrets ? null : rawOutput(texts, finalOutput),
      finalOutput,
      traceSpans: `[${spanText(record.root, texts, pieces)}]`,
      ...(record.files ? { files: filesOf(record, record.files) } : undefined),
      ...(isPlain(record) ? undefined : notesOf(record)),
    }
  }
}

/**
 * The most characters of JSON for all values of one trace. Values beyond it become previews: otherwise a large value
 * that every iteration of a loop reads would be written thousands of times.
 */
export const traceCharsMax = 33_554_432

const previewChars = 1_024
const previewSearchedChars = 65_536

const noModels: readonly string[] = []

function isFree(cost: Cost): boolean {
  return cost.total === 0 && cost.tokens.total === 0 && Object.keys(cost.models).length === 0
}

/** A model's name comes from a block's parameter, so it may contain a secret. */
function withoutSecrets(cost: Cost, secrets: Redactor): Cost {
  const models = Object.entries(cost.models).map(([name, model]) => {
    return [redactText(name, secrets), model] as const
  })
  return { ...cost, models: Object.fromEntries(models) }
}

/** The output for the caller of an asynchronous run that succeeded; null when it equals the logged output. */
function rawOutput(texts: RecordTexts, logged: string): string | null {
  const raw = bounded(texts.rawOutput(), finalOutputBytesMax)
  return raw === logged ? null : raw
}

function failureText({ message, code, blockId, blockName }: RunFailure, secrets: Redactor | undefined): string {
  let text = `{"error":${stringText(message, secrets)},"code":"${code}"`
  if (blockId !== null) text += `,"blockId":${JSON.stringify(blockId)}`
  if (blockName !== null) text += `,"blockName":${stringText(blockName, secrets)}`
  return `${text}}`
}

export function stringText(value: string, secrets: Redactor | undefined): string {
  const text = quoted(value)
  return secrets === undefined ? text : secrets.redact(text)
}

const plain = /^[\w .:-]*$/

/** `JSON.stringify` of a text, in a quarter of the time for most names and ids. */
function quoted(text: string | null): string {
  return text !== null && plain.test(text) ? `"${text}"` : JSON.stringify(text)
}

/** The JSON of a span with these children. */
export function spanText(
  span: Span,
  texts: RecordTexts,
  pieces: SpanPieces,
  children: readonly Span[] = span.children,
): string {
  const head = headOf(span, texts, pieces)
  // Few large pieces: each one costs time twice, here and when the row leaves the thread.
  let text =
    pieces.opening(head, span) +
    pieces.times(span) +
    texts.spanValue(span.input, head) +
    ',"output":' +
    texts.spanValue(span.output)
  if (span.error !== null) {
    text += `,"error":{"code":${JSON.stringify(span.error.code)},"message":${texts.string(span.error.message)}}`
  }
  if (span.attempts !== null)
    text += `,"attempts":[${span.attempts.map((each) => attemptText(each, texts, pieces.iso)).join(',')}]`
  if (span.usage !== undefined) text += usageText(span.usage, texts)
  if (span.pauses !== undefined)
    text += `,"pauses":[${span.pauses.map((each) => pauseText(each, texts, pieces.iso)).join(',')}]`
  if (span.reused) text += ',"reused":true'
  if (span.pinned) text += ',"pinned":true'
  if (span.traceId !== undefined) text += `,"traceId":"${span.traceId}"`
  if (children.length === 0) return `${text},"children":[]}`
  text += ',"children":['
  let separator = ''
  for (const child of children) {
    text += separator + spanText(child, texts, pieces)
    separator = ','
  }
  return `${text}]}`
}

/** The members that identify the block. */
function headOf(span: Span, texts: RecordTexts, pieces: SpanPieces): SpanHead {
  const { name, type, blockId } = span
  const make = () => `"name":${texts.string(name)},"type":${quoted(type)},"blockId":${quoted(blockId)}`
  // Each workspace hides other texts, so the cache is only for runs without secrets.
  return texts.hidesNothing ? pieces.head(span, make) : newHead(make())
}

function usageText({ model, tokens, cost, timeToFirstTokenMs, ...unknown }: ModelUsage, texts: RecordTexts): string {
  const { prompt, completion, total } = tokens
  let text =
    `,"model":${texts.string(model)},"tokens":{"prompt":${prompt},"completion":${completion},"total":${total}},` +
    `"cost":{"input":${cost.input},"output":${cost.output},"total":${cost.total}}`
  if (timeToFirstTokenMs !== null) text += `,"timeToFirstTokenMs":${numberText(timeToFirstTokenMs)}`
  if (unknown.costUnknown) text += ',"costUnknown":true'
  if (unknown.tokensUnknown) text += ',"tokensUnknown":true'
  return text
}

/** The values of one run as text, without its secrets, except for `rawOutput`. */
export type RecordTexts = {
  readonly hidesNothing: boolean
  string(value: string): string
  finalOutput(): string
  rawOutput(): string
  /** Called in the order in which `spanText` writes: a span's input, its output, its children. */
  spanValue(value: unknown, head?: SpanHead): string
}

/** Writes the values when they are asked for. */
export class Texts implements RecordTexts {
  readonly #secrets: Redactor | undefined
  readonly #output: unknown
  readonly #outputText: string
  #latest: unknown
  #latestText = ''
  #charsLeft = traceCharsMax
  readonly #valueBytesMax: number

  constructor(output: unknown, secrets: Redactor | undefined, valueBytesMax = spanValueBytesMax) {
    this.#secrets = secrets
    this.#valueBytesMax = valueBytesMax
    this.#output = output
    this.#outputText = this.#written(output, finalOutputBytesMax)
  }

  get hidesNothing(): boolean {
    return this.#secrets === undefined
  }

  string(value: string): string {
    return stringText(value, this.#secrets)
  }

  finalOutput(): string {
    return bounded(this.#outputText, finalOutputBytesMax)
  }

  rawOutput(): string {
    return jsonText(this.#output)
  }

  /** `head`: of the span, when the value is its input. */
  spanValue(value: unknown, head?: SpanHead): string {
    const full = head === undefined ? this.#textOf(value) : this.#inputText(value, head)
    const text = bounded(full, Math.min(this.#valueBytesMax, Math.max(0, this.#charsLeft)))
    this.#charsLeft -= text.length
    return text
  }

  /** An input that is the same in every run is frozen, and written once. */
  #inputText(value: unknown, head: SpanHead): string {
    if (value === head.input && value !== undefined) return head.inputText
    const text = this.#textOf(value)
    // Only small ones: heads outlive the workflows they came from.
    const isKept =
      text.length <= inputCharsKept && typeof value === 'object' && value !== null && Object.isFrozen(value)
    if (isKept) {
      head.input = value
      head.inputText = text
    }
    return text
  }

  #textOf(value: unknown): string {
    if (typeof value !== 'object' || value === null) return this.#written(value, this.#valueBytesMax)
    if (value === this.#output) return this.#outputText
    if (value === this.#latest) return this.#latestText
    this.#latest = value
    this.#latestText = this.#written(value, this.#valueBytesMax)
    return this.#latestText
  }

  #written(value: unknown, bytesMax: number): string {
    const text = jsonText(value)
    if (this.#secrets === undefined) return text
    return text.length > bytesMax ? previewOf(text, this.#secrets) : this.#secrets.redact(text)
  }
}

/** The most characters of an input that is cached with its block. */
const inputCharsKept = 1_024

/** Texts up to this length never become previews. */
const smallChars = 128

export function bounded(text: string, bytesMax: number): string {
  if (text.length <= smallChars || text.length * 3 <= bytesMax) return text
  const size = Buffer.byteLength(text)
  return size <= bytesMax ? text : previewOf(text, undefined)
}

/** A preview of JSON text. Only its beginning is searched for secrets. `size`: of the whole text, in bytes. */
export function previewOf(text: string, secrets: Redactor | undefined, size = Buffer.byteLength(text)): string {
  const start = secrets ? new StreamRedactor(secrets).push(text.slice(0, previewSearchedChars)) : text
  const preview = start.slice(0, previewChars).toWellFormed()
  return JSON.stringify({ truncated: true, size, preview })
}

/** Values that JSON omits (undefined, functions) become null. A value that JSON refuses must not lose the run. */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null'
  } catch {
    return lenientText(value)
  }
}

/** Big integers become their digits, a circular reference becomes a note. */
export function lenientText(value: unknown): string {
  const path: unknown[] = []
  function replace(this: unknown, _key: string, inner: unknown): unknown {
    if (typeof inner === 'bigint') return inner.toString()
    if (typeof inner !== 'object' || inner === null) return inner
    while (path.length > 0 && path.at(-1) !== this) path.pop()
    if (path.includes(inner)) return '[circular]'
    path.push(inner)
    return inner
  }
  try {
    return JSON.stringify(value, replace) ?? 'null'
  } catch (error) {
    const preview = `This value cannot be written as JSON: ${error instanceof Error ? error.message : String(error)}`
    return JSON.stringify({ truncated: true, size: 0, preview })
  }
}
