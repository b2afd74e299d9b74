import { estimateSize } from '../domain/estimate-size.ts'
import { finalOutputBytesMax, spanValueBytesMax } from '../domain/limits.ts'
import type { Redactor } from '../domain/redaction/redactor.ts'
import type { RunRecord, Span } from '../domain/run/log.ts'
import { type JsonStart, jsonStartInSlices, largeBytes, type Slices } from '../domain/slices.ts'
import { bounded, lenientText, previewOf, type RecordTexts, stringText, traceCharsMax } from './batch.ts'

/** Whether the values of a run are so large that writing them in one piece would delay other requests. */
export function isLarge({ root, output }: RunRecord): boolean {
  return spanSize(root, estimateSize(output, largeBytes)) > largeBytes
}

function spanSize({ input, output, children }: Span, bytes: number): number {
  let size = bytes + estimateSize(input, largeBytes) + estimateSize(output, largeBytes)
  for (let index = 0; index < children.length && size <= largeBytes; index += 1) {
    size = spanSize(children[index] as Span, size)
  }
  return size
}

/** Writes the values of a large record. */
export function* textsInSlices({ root, output, secrets }: RunRecord): Slices<RecordTexts> {
  const raw = yield* jsonTextInSlices(output, finalOutputBytesMax)
  const final = yield* cleanInSlices(raw, secrets, finalOutputBytesMax)
  const known = new Map<unknown, string>()
  const spanTexts: string[] = []
  let charsLeft = traceCharsMax
  let charsRead = 0
  for (const value of valuesOf(root)) {
    let text = known.get(value)
    if (text === undefined && charsRead > charsReadMax) {
      text = JSON.stringify({ truncated: true, size: estimateSize(value, charsReadMax), preview: '' })
    }
    if (text === undefined) {
      const full = value === output ? raw : yield* jsonTextInSlices(value, spanValueBytesMax)
      charsRead += full.bytes
      text = yield* cleanInSlices(full, secrets, spanValueBytesMax)
      yield
    }
    const written = bounded(text, Math.min(spanValueBytesMax, Math.max(0, charsLeft)))
    charsLeft -= written.length
    spanTexts.push(written)
    if (typeof value === 'object' && value !== null && charsLeft > 0) known.set(value, written)
  }
  let next = 0
  return {
    hidesNothing: secrets === undefined,
    string: (value) => stringText(value, secrets),
    finalOutput: () => final,
    rawOutput: () => (raw.isWhole ? raw.text : previewOf(raw.text, undefined, raw.bytes)),
    spanValue: () => spanTexts[next++] as string,
  }
}

/** The values of a trace, in the order in which `spanText` writes them. */
function* valuesOf(span: Span): Generator<unknown, void> {
  yield span.input
  yield span.output
  for (const child of span.children) yield* valuesOf(child)
}

function* cleanInSlices(
  { text, isWhole, bytes }: JsonStart,
  secrets: Redactor | undefined,
  bytesMax: number,
): Slices<string> {
  if (!isWhole || text.length > bytesMax) return previewOf(text, secrets, bytes)
  return bounded(secrets === undefined ? text : yield* secrets.redactInSlices(text), bytesMax)
}

/** Keeps more than `bytesMax` of no text: it becomes a preview. */
function* jsonTextInSlices(value: unknown, bytesMax: number): Slices<JsonStart> {
  try {
    return (yield* jsonStartInSlices(value, bytesMax)) ?? wholeText('null')
  } catch {
    return wholeText(lenientText(value))
  }
}

function wholeText(text: string): JsonStart {
  return { text, isWhole: true, bytes: Buffer.byteLength(text) }
}

/** Once this much was read for one trace, further values are not read. */
const charsReadMax = 268_435_456
