import type { Span, SpanStatus } from '../domain/run/log.ts'
import { createIsoTime, type IsoTime } from '../domain/text/iso-time.ts'

/**
 * Caches texts that spans have in common: the same blocks run again and again, with the same numbers in their runs, and
 * most times are within one millisecond. Each cached text is one flat string. A string made of ten pieces has to be
 * joined for every row when the row leaves the thread, which took longer than making the row.
 */
export class SpanPieces {
  readonly iso: IsoTime = createIsoTime()
  readonly #heads = new Map<string, Known>()
  #startTime = Number.NaN
  #endTime = Number.NaN
  #durationMs = Number.NaN
  #times = ''

  /** The cached text for a span of the same block, or the result of `make`. */
  head({ name, type, blockId }: Span, make: () => string): SpanHead {
    const key = blockId ?? name
    const known = this.#heads.get(key)
    if (known && known.name === name && known.type === type && known.blockId === blockId) return known
    if (this.#heads.size >= headsMax) this.#heads.clear()
    const head: Known = { ...newHead(make()), name, type, blockId }
    this.#heads.set(key, head)
    return head
  }

  /** The text of a span up to its status. */
  opening(head: SpanHead, { id, status }: Span): string {
    if (head.id !== id || head.status !== status) {
      head.id = id
      head.status = status
      head.opening = ['{"id":"', id, '",', head.text, ',"status":"', status, '",'].join('')
    }
    return head.opening
  }

  /** Start, end and duration of a span, as three members; the input follows. */
  times({ startTime, endTime, durationMs }: Span): string {
    if (startTime !== this.#startTime || endTime !== this.#endTime || durationMs !== this.#durationMs) {
      this.#startTime = startTime
      this.#endTime = endTime
      this.#durationMs = durationMs
      const times = ['"startTime":"', this.iso(startTime), '","endTime":"', this.iso(endTime)]
      this.#times = [...times, '","duration":', numberText(durationMs), ',"input":'].join('')
    }
    return this.#times
  }
}

/**
 * The texts that the spans of one block have in common. `opening`: of the latest span, with its id and status.
 * `inputText`: of `input`, the latest input that is the same in every run.
 */
export type SpanHead = {
  readonly text: string
  id: string
  status: SpanStatus | undefined
  opening: string
  input: unknown
  inputText: string
}

export function newHead(text: string): SpanHead {
  return { text, id: '', status: undefined, opening: '', input: undefined, inputText: '' }
}

type Known = SpanHead & Pick<Span, 'name' | 'type' | 'blockId'>

/** They contain names, ids and short inputs chosen by users: a few megabytes at most. */
const headsMax = 1_000

/** JSON has no infinite numbers. */
export function numberText(value: number): string {
  return Number.isFinite(value) ? `${value}` : 'null'
}
