import { type Cost, type ModelUsage, noCost } from '../domain/cost.ts'
import { folderOf, type RunFile } from '../domain/file.ts'
import type { IsoTime } from '../domain/iso-time.ts'
import { finalOutputBytesMax, spanValueBytesMax } from '../domain/limits.ts'
import type { LogFiles, LogRow, RunFailure, RunRecord, Span, SpanAttempt } from '../domain/log.ts'
import { type Redactor, redactText } from '../domain/redaction.ts'
import { newHead, numberText, type SpanHead, SpanPieces } from './span-pieces.ts'

/** Makes the row of a run that ended. */
export type Fold = (record: RunRecord, sequence: number) => LogRow

/**
 * A fold that writes JSON by hand: this runs once per finished run, on the thread that answers requests. Pure but for the
 * texts it remembers. What is the same object in several places (a block's output and the run's) is written once.
 *
 * Secrets are taken out of every text that a user can have a hand in, before anything is cut: of half a secret nobody can
 * tell that it is one. Member names, ids, types and numbers of our own are left as they are, whatever a secret says.
 */
export function createFold(): Fold {
  const pieces = new SpanPieces()
  return (record, sequence) => {
    const { failure, secrets } = record
    const texts = new Texts(record.output, secrets)
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
      costTotal: record.cost.total,
      models: cost === noCost ? noModels : Object.keys(cost.models),
      cost: isFree(cost) ? null : JSON.stringify(cost),
      rawOutput: record.createdAt === null || !secrets ? null : rawOutput(record, finalOutput),
      finalOutput,
      traceSpans: `[${spanText(record.root, texts, pieces)}]`,
      ...(record.files ? { files: filesOf(record, record.files) } : undefined),
    }
  }
}

/**
 * The characters of JSON that all values of one trace may have. What comes after them is kept as a preview: a big value
 * that every iteration of a loop reads would otherwise be written thousands of times.
 */
const traceCharsMax = 33_554_432

const previewChars = 1_024

const noModels: readonly string[] = []

function isFree(cost: Cost): boolean {
  return cost.total === 0 && cost.tokens.total === 0 && Object.keys(cost.models).length === 0
}

/** The name of a model is what a block's parameter says. */
function withoutSecrets(cost: Cost, secrets: Redactor): Cost {
  const models = Object.entries(cost.models).map(([name, model]) => {
    return [redactText(name, secrets), model] as const
  })
  return { ...cost, models: Object.fromEntries(models) }
}

/** Texts that callers and other services chose stand in names, types and addresses, and so in keys. */
function filesOf(record: RunRecord, files: readonly RunFile[]): LogFiles {
  const { secrets } = record
  const clean = (text: string) => (secrets ? (JSON.parse(stringText(text, secrets)) as string) : text)
  const shown = files.map(({ key, file }) => ({
    key: key === null ? null : clean(key),
    file: { ...file, url: clean(file.url), name: clean(file.name), type: clean(file.type) },
  }))
  return { text: JSON.stringify(shown), folder: files.some(({ key }) => key !== null) ? folderOf(record) : null }
}

/** What the caller of an asynchronous run gets; null when that is what the log says. */
function rawOutput({ failure, output }: RunRecord, logged: string): string | null {
  const raw = failure === null ? bounded(jsonText(output), finalOutputBytesMax) : failureText(failure, undefined)
  return raw === logged ? null : raw
}

function failureText({ message, code, blockId, blockName }: RunFailure, secrets: Redactor | undefined): string {
  let text = `{"error":${stringText(message, secrets)},"code":"${code}"`
  if (blockId !== null) text += `,"blockId":${JSON.stringify(blockId)}`
  if (blockName !== null) text += `,"blockName":${stringText(blockName, secrets)}`
  return `${text}}`
}

function stringText(value: string, secrets: Redactor | undefined): string {
  const text = quoted(value)
  return secrets === undefined ? text : secrets.redact(text)
}

const plain = /^[\w .:-]*$/

/** `JSON.stringify` of a text, in a quarter of the time for what names and ids mostly are. */
function quoted(text: string | null): string {
  return text !== null && plain.test(text) ? `"${text}"` : JSON.stringify(text)
}

/** A span as it goes on the wire, with these spans below it. */
export function spanText(
  span: Span,
  texts: Texts,
  pieces: SpanPieces,
  children: readonly Span[] = span.children,
): string {
  const head = headOf(span, texts, pieces)
  // Few large pieces: what each one costs is paid twice, here and where the row leaves the thread.
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
  if (span.reused) text += ',"reused":true'
  if (children.length === 0) return `${text},"children":[]}`
  text += ',"children":['
  let separator = ''
  for (const child of children) {
    text += separator + spanText(child, texts, pieces)
    separator = ','
  }
  return `${text}]}`
}

/** Which block it is. */
function headOf(span: Span, texts: Texts, pieces: SpanPieces): SpanHead {
  const { name, type, blockId } = span
  const make = () => `"name":${texts.string(name)},"type":${quoted(type)},"blockId":${quoted(blockId)}`
  // What is hidden in one workspace is not in another.
  return texts.hidesNothing ? pieces.head(span, make) : newHead(make())
}

function usageText({ model, tokens, cost, timeToFirstTokenMs, ...unknown }: ModelUsage, texts: Texts): string {
  const { prompt, completion, total } = tokens
  let text =
    `,"model":${texts.string(model)},"tokens":{"prompt":${prompt},"completion":${completion},"total":${total}},` +
    `"cost":{"input":${cost.input},"output":${cost.output},"total":${cost.total}}`
  if (timeToFirstTokenMs !== null) text += `,"timeToFirstTokenMs":${numberText(timeToFirstTokenMs)}`
  if (unknown.costUnknown) text += ',"costUnknown":true'
  if (unknown.tokensUnknown) text += ',"tokensUnknown":true'
  return text
}

function attemptText(
  { number, startTime, durationMs, status, error }: SpanAttempt,
  texts: Texts,
  iso: IsoTime,
): string {
  let text = `{"number":${number},"startTime":"${iso(startTime)}","duration":${numberText(durationMs)}`
  if (status !== undefined) text += `,"status":${status}`
  if (error !== undefined) text += `,"error":${texts.string(error)}`
  return `${text}}`
}

/** The texts of one run's values, without its secrets. */
export class Texts {
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
    this.#outputText = this.#written(output)
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

  /** `head`: of the span whose input it is. */
  spanValue(value: unknown, head?: SpanHead): string {
    const full = head === undefined ? this.#textOf(value) : this.#inputText(value, head)
    const text = bounded(full, Math.min(this.#valueBytesMax, Math.max(0, this.#charsLeft)))
    this.#charsLeft -= text.length
    return text
  }

  /** What a block is given in every run alike is frozen, and written once. */
  #inputText(value: unknown, head: SpanHead): string {
    if (value === head.input && value !== undefined) return head.inputText
    const text = this.#textOf(value)
    // Not what is large: heads outlive the workflows they came from.
    const isKept =
      text.length <= inputCharsKept && typeof value === 'object' && value !== null && Object.isFrozen(value)
    if (isKept) {
      head.input = value
      head.inputText = text
    }
    return text
  }

  #textOf(value: unknown): string {
    if (typeof value !== 'object' || value === null) return this.#written(value)
    if (value === this.#output) return this.#outputText
    if (value === this.#latest) return this.#latestText
    this.#latest = value
    this.#latestText = this.#written(value)
    return this.#latestText
  }

  #written(value: unknown): string {
    const text = jsonText(value)
    return this.#secrets === undefined ? text : this.#secrets.redact(text)
  }
}

/** Of an input that is remembered with its block, at most. */
const inputCharsKept = 1_024

/** Texts of this length are never worth a preview. */
const smallChars = 128

function bounded(text: string, bytesMax: number): string {
  if (text.length <= smallChars || text.length * 3 <= bytesMax) return text
  const size = Buffer.byteLength(text)
  if (size <= bytesMax) return text
  return JSON.stringify({ truncated: true, size, preview: text.slice(0, previewChars).toWellFormed() })
}

/** What JSON leaves out (undefined, functions) is null; what it refuses does not lose the run. */
function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null'
  } catch {
    return lenientText(value)
  }
}

/** Big integers become their digits; what holds itself becomes a note. */
function lenientText(value: unknown): string {
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
