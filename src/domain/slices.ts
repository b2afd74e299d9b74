import { estimateSize } from './estimate-size.ts'
import { textPieces } from './text/text-pieces.ts'

/** Work that may pause at each `yield`, and returns its result. */
export type Slices<Result> = Generator<undefined, Result>

/** Does work in slices, in turns with everything else. */
export type InSlices = <Result>(slices: Slices<Result>) => Promise<Result>

/** Does work at once. */
export function finish<Result>(slices: Slices<Result>): Result {
  for (;;) {
    const { done, value } = slices.next()
    if (done) return value
  }
}

/** Whether JSON data is so large that writing it in one piece would delay other requests. */
export function isLargeValue(value: unknown): boolean {
  return estimateSize(value, largeBytes) > largeBytes
}

/** A text of this length takes about a millisecond to parse. */
export const largeBytes = 524_288

/** `JSON.stringify` of a large value; undefined when it has no JSON. Throws where `JSON.stringify` would. */
export function* jsonInSlices(value: unknown): Slices<string | undefined> {
  if (!isDivisible(value)) return JSON.stringify(value)
  const parts: string[] = []
  for (const piece of piecesOf(value, 0)) {
    parts.push(piece)
    yield
  }
  return parts.join('')
}

/** The JSON text of a value, or only its beginning. `bytes`: the size of the whole text. */
export type JsonStart = Readonly<{ text: string; isWhole: boolean; bytes: number }>

/**
 * `jsonInSlices` that keeps only the beginning of a text with more than `charsMax` characters, so that the rest takes
 * no memory. The beginning has at least `charsMax` characters.
 */
export function* jsonStartInSlices(value: unknown, charsMax: number): Slices<JsonStart | undefined> {
  if (!isDivisible(value)) {
    const text = JSON.stringify(value) as string | undefined
    return text === undefined ? undefined : { text, isWhole: true, bytes: Buffer.byteLength(text) }
  }
  const parts: string[] = []
  let chars = 0
  let bytes = 0
  for (const piece of piecesOf(value, 0)) {
    if (chars <= charsMax) parts.push(piece)
    chars += piece.length
    bytes += Buffer.byteLength(piece)
    yield
  }
  const text = parts.join('')
  return { text, isWhole: text.length === chars, bytes }
}

function piecesOf(value: object | string, depth: number): Generator<string, void> {
  if (typeof value === 'string') return piecesOfString(value)
  return Array.isArray(value) ? piecesOfArray(value, depth) : piecesOfObject(value, depth)
}

function* piecesOfString(text: string): Generator<string, void> {
  yield '"'
  // Most pieces need no escapes. They share the memory of the text.
  for (const piece of textPieces(text, sliceBytes)) {
    yield needsEscapes.test(piece) ? JSON.stringify(piece).slice(1, -1) : piece
  }
  yield '"'
}

function* piecesOfArray(items: readonly unknown[], depth: number): Generator<string, void> {
  let separator = '['
  for (let from = 0; from < items.length; separator = ',') {
    let to = from
    let bytes = 0
    for (; to < items.length && bytes <= sliceBytes; to += 1) bytes += estimateSize(items[to], sliceBytes)
    const item = items[from]
    // The last item of a slice may be a large one.
    if (bytes > sliceBytes && to - from > 1) to -= 1
    if (to - from === 1 && depth < depthMax && isDivisible(item)) {
      yield separator
      yield* piecesOf(item, depth + 1)
    } else yield separator + JSON.stringify(items.slice(from, to)).slice(1, -1)
    from = to
  }
  yield ']'
}

function* piecesOfObject(value: object, depth: number): Generator<string, void> {
  let text = ''
  let separator = '{'
  // Not all entries at once: for 200,000 members, that takes 20 ms.
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key]
    if (depth < depthMax && isDivisible(member)) {
      yield `${text}${separator}${JSON.stringify(key)}:`
      text = ''
      yield* piecesOf(member, depth + 1)
    } else {
      const json = JSON.stringify(member) as string | undefined
      // JSON omits functions and undefined.
      if (json === undefined) continue
      text += `${separator}${JSON.stringify(key)}:${json}`
    }
    separator = ','
    if (text.length <= sliceBytes) continue
    yield text
    text = ''
  }
  yield `${text}${separator === '{' ? '{' : ''}}`
}

/** A quote, a backslash, a control character, or half of a surrogate pair, which may be alone. */
const needsEscapes = /[^ !#-[\]-\ud7ff\ue000-\uffff]/

/** Values that define their own JSON are written in one piece. */
function isDivisible(value: unknown): value is object | string {
  if (typeof value === 'string') return value.length > sliceBytes
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return false
  return estimateSize(value, sliceBytes) > sliceBytes
}

const sliceBytes = 131_072
/** Values from outside have 200 levels at most. */
const depthMax = 300
