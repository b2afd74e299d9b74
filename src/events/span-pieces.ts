import { createIsoTime, type IsoTime } from '../domain/iso-time.ts'
import type { Span } from '../domain/log.ts'

/**
 * Texts that spans share with those before them: the same blocks run again and again, and most times are of one millisecond.
 * Each is joined to one piece. Written out it would be ten, which have to be put together anew for every row, where it leaves
 * the thread: that took longer than making the row.
 */
export class SpanPieces {
  readonly iso: IsoTime = createIsoTime()
  readonly #heads = new Map<string, Known>()
  #startTime = Number.NaN
  #endTime = Number.NaN
  #times = ''

  /** `text` as it was made for a span of the same block, else as `make` makes it now. */
  head({ name, type, blockId }: Span, make: () => readonly string[]): SpanHead {
    const key = blockId ?? name
    const known = this.#heads.get(key)
    if (known && known.name === name && known.type === type && known.blockId === blockId) return known
    if (this.#heads.size >= headsMax) this.#heads.clear()
    const head: Known = { name, type, blockId, text: make().join(''), input: undefined, inputText: '' }
    this.#heads.set(key, head)
    return head
  }

  /** When a span began and ended, as two members. */
  times({ startTime, endTime }: Span): string {
    if (startTime !== this.#startTime || endTime !== this.#endTime) {
      this.#startTime = startTime
      this.#endTime = endTime
      this.#times = ['"startTime":"', this.iso(startTime), '","endTime":"', this.iso(endTime), '"'].join('')
    }
    return this.#times
  }
}

/** `inputText`: of `input`, the latest one that is given in every run alike. */
export type SpanHead = { readonly text: string; input: unknown; inputText: string }

type Known = SpanHead & Pick<Span, 'name' | 'type' | 'blockId'>

/** Names and ids that users chose: some 100 kB at most. */
const headsMax = 1_000
