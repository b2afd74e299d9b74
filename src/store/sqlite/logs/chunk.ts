import type { LogRow } from '../../../domain/run/log.ts'
import type { Value } from '../connection.ts'

/**
 * The long texts of neighbouring log entries in one compressed piece. Each entry is a line of numbers (sequence, number
 * of the workspace, lengths of cost, final output and spans) and the three texts. Length -1 means that there is no
 * cost.
 *
 * Measured for entries with 1.2 kB of spans, against one zstd blob each: a tenth of the bytes, a seventh of the time to
 * compress, and one row to insert instead of 27. Reading one entry decompresses its chunk, which takes 30 µs. The texts
 * of neighbouring chunks can be joined into the text of one chunk.
 */
export type Chunk = { firstSequence: number; lastSequence: number; text: string }

/** The long texts of one entry in its chunk. */
export type Long = { workspace: number; cost: string | null; finalOutput: string; traceSpans: string }

type LongTexts = Pick<LogRow, 'sequence' | 'cost' | 'finalOutput' | 'traceSpans'>

/** Rows in rising order of sequence; `workspaces` has the number of each. */
export function chunksOf(rows: readonly LongTexts[], workspaces: readonly number[]): Chunk[] {
  const chunks: Chunk[] = []
  let chunk: Chunk | undefined
  for (const [index, row] of rows.entries()) {
    const text = entryText(row, workspaces[index]!)
    if (!chunk || chunk.text.length + text.length > chunkCharsMax) {
      chunk = { firstSequence: row.sequence, lastSequence: row.sequence, text: '' }
      chunks.push(chunk)
    }
    chunk.lastSequence = row.sequence
    chunk.text += text
  }
  return chunks
}

/** The entries of a chunk by their sequence. */
export function readChunk(text: string): Map<number, Long> {
  const entries = new Map<number, Long>()
  let at = 0
  while (at < text.length) {
    const end = text.indexOf('\n', at)
    const [sequence, workspace, cost, finalOutput, traceSpans] = text.slice(at, end).split(' ').map(Number) as Head
    const costAt = end + 1
    const outputAt = costAt + Math.max(0, cost)
    const spansAt = outputAt + finalOutput
    at = spansAt + traceSpans
    entries.set(sequence, {
      workspace,
      cost: cost < 0 ? null : text.slice(costAt, outputAt),
      finalOutput: text.slice(outputAt, spansAt),
      traceSpans: text.slice(spansAt, at),
    })
  }
  return entries
}

/**
 * Finds entries of a chunk in rising order without parsing the entries in between: finding one of a hundred takes a
 * tenth of the time that parsing all of them takes.
 */
export class ChunkWalk {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  /** Undefined when there is none of this sequence, or the walk is beyond it. */
  find(sequence: number): Long | undefined {
    const text = this.#text
    while (this.#at < text.length) {
      const startsAt = this.#at
      const found = this.#number()
      if (found > sequence) {
        this.#at = startsAt
        return undefined
      }
      const workspace = this.#number()
      const cost = this.#number()
      const finalOutput = this.#number()
      const traceSpans = this.#number()
      const outputAt = this.#at + Math.max(0, cost)
      const spansAt = outputAt + finalOutput
      const endsAt = spansAt + traceSpans
      const costAt = this.#at
      this.#at = endsAt
      if (found < sequence) continue
      return {
        workspace,
        cost: cost < 0 ? null : text.slice(costAt, outputAt),
        finalOutput: text.slice(outputAt, spansAt),
        traceSpans: text.slice(spansAt, endsAt),
      }
    }
    return undefined
  }

  /** A whole number, and the space or line break after it. */
  #number(): number {
    const text = this.#text
    let code = text.charCodeAt(this.#at)
    const isNegative = code === minus
    if (isNegative) code = text.charCodeAt(++this.#at)
    let value = 0
    while (code >= zero) {
      value = value * 10 + (code - zero)
      code = text.charCodeAt(++this.#at)
    }
    this.#at += 1
    return isNegative ? -value : value
  }
}

const minus = 45
const zero = 48

/** The numbers of the workspaces that have entries in it. */
export function workspacesIn(text: string): Set<number> {
  const workspaces = new Set<number>()
  let at = 0
  while (at < text.length) {
    const end = text.indexOf('\n', at)
    const [, workspace, cost, finalOutput, traceSpans] = text.slice(at, end).split(' ').map(Number) as Head
    workspaces.add(workspace)
    at = end + 1 + Math.max(0, cost) + finalOutput + traceSpans
  }
  return workspaces
}

export type SqlChunk = { encoding: number; content: string | Uint8Array }

export const insertChunk =
  'INSERT INTO log_chunks (first_sequence, last_sequence, encoding, content) VALUES (?, ?, ?, ?)'

/** In the order of the columns of `insertChunk`. */
export function chunkValues({ firstSequence, lastSequence, text }: Chunk): Value[] {
  if (text.length < zstdCharsMin) return [firstSequence, lastSequence, 0, text]
  return [firstSequence, lastSequence, 1, Bun.zstdCompressSync(text, { level: 1 })]
}

export function chunkText({ encoding, content }: SqlChunk): string {
  if (typeof content === 'string') return content
  if (encoding !== 1) throw new Error(`A chunk of log entries has the unknown encoding ${encoding}`)
  return Bun.zstdDecompressSync(content).toString()
}

type Head = [sequence: number, workspace: number, cost: number, finalOutput: number, traceSpans: number]

function entryText({ sequence, cost, finalOutput, traceSpans }: LongTexts, workspace: number): string {
  return (
    `${sequence} ${workspace} ${cost === null ? -1 : cost.length} ${finalOutput.length} ${traceSpans.length}\n` +
    `${cost ?? ''}${finalOutput}${traceSpans}`
  )
}

export const chunkCharsMax = 32_768
/** Smaller chunks stay text while their callers wait: 10 µs of 190 for a run that ends alone. */
const zstdCharsMin = 8_192
