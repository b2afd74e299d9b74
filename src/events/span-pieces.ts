import { createIsoTime, type IsoTime } from '../domain/iso-time.ts'
import type { Span, SpanStatus } from '../domain/log.ts'

/**
 * Texts that spans share with those before them: the same blocks run again and again, with the same numbers in their runs,
 * and most times are of one millisecond. Each is joined to one piece. Written out it would be ten, which have to be put
 * together anew for every row, where it leaves the thread: that took longer than making the row.
 */
export class SpanPieces {
  readonly iso: IsoTime = createIsoTime()
  readonly #heads = new Map<string, Known>()
  #startTime = Number.NaN
  #endTime = Number.NaN
  #durationMs = Number.NaN
  #times = ''

  /** `text` as it was made for a span of the same block, else as `make` makes it now. */
  head({ name, type, blockId }: Span, make: () => string): SpanHead {
    const key = blockId ?? name
    const known = this.#heads.get(key)
    if (known && known.name === name && known.type === type && known.blockId === blockId) return known
    if (this.#heads.size >= headsMax) this.#heads.clear()
    const head: Known = { ...newHead(make()), name, type, blockId }
    this.#heads.set(key, head)
    return head
  }

  /** A span up to its status. */
  opening(head: SpanHead, { id, status }: Span): string {
    if (head.id !== id || head.status !== status) {
      head.id = id
      head.status = status
      head.opening = ['{"id":"', id, '",', head.text, ',"status":"', status, '",'].join('')
    }
    return head.opening
  }

  /** When a span began and ended, and how long it took, as three members; its input comes next. */
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
 * What the spans of one block have in common. `opening`: of the latest one, which had that id and status. `inputText`: of
 * `input`, the latest one that is given in every run alike.
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

/** With names, ids and short inputs that users chose: a few megabytes at most. */
const headsMax = 1_000

/** JSON has no infinities. */
export function numberText(value: number): string {
  return Number.isFinite(value) ? `${value}` : 'null'
}
