/**
 * What clocks on the wall of a zone say, found by asking `Intl` for the offset and searching for the moments at which it
 * changes: nothing of it is shared with what it is compared with.
 */
export class WallClock {
  /** From `from` on the offset is `offsetMs`, until the next one. */
  readonly #offsets: { from: number; offsetMs: number }[] = []
  readonly #format: Intl.DateTimeFormat
  readonly #from: number
  readonly #to: number

  constructor(zone: string, from: number, to: number) {
    this.#from = from
    this.#to = to
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      ...({ year: 'numeric', month: '2-digit', day: '2-digit' } as const),
      ...({ hour: '2-digit', minute: '2-digit', second: '2-digit' } as const),
    })
    this.#offsets.push({ from, offsetMs: this.#ask(from) })
    for (let at = from; at < to; at += stepMs) {
      const end = Math.min(at + stepMs, to)
      if (this.#ask(at) !== this.#ask(end)) this.#search(at, end)
    }
  }

  /** Times at which a clock on the wall shows one of these. `isFixed`: each comes once a day, whatever the clocks do. */
  times(
    matches: (date: { month: number; day: number; weekday: number }) => boolean,
    {
      hours,
      minutes,
      seconds,
    }: { hours: ReadonlySet<number>; minutes: ReadonlySet<number>; seconds: ReadonlySet<number> },
    isFixed: boolean,
  ): number[] {
    const found = new Set<number>()
    for (let midnight = this.#from - (this.#from % dayMs); midnight <= this.#to; midnight += dayMs) {
      const date = new Date(midnight)
      const shown = { month: date.getUTCMonth() + 1, day: date.getUTCDate(), weekday: date.getUTCDay() }
      if (!matches(shown)) continue
      for (const hour of hours) {
        for (const minute of minutes) {
          for (const second of seconds) {
            const wall = midnight + ((hour * 60 + minute) * 60 + second) * 1_000
            for (const time of this.#momentsOf(wall, isFixed)) found.add(time)
          }
        }
      }
    }
    return [...found].sort((a, b) => a - b)
  }

  /** The moments at which the wall shows this; written as if it were UTC. */
  #momentsOf(wall: number, isFixed: boolean): number[] {
    const moments = this.#offsets.flatMap(({ from, offsetMs }, index) => {
      const moment = wall - offsetMs
      const end = this.#offsets[index + 1]?.from ?? Number.POSITIVE_INFINITY
      return moment >= from && moment < end ? [moment] : []
    })
    if (!isFixed || moments.length === 1) return moments
    if (moments.length > 1) return [Math.min(...moments)]
    // Left out: the moment of the change that leaves it out, if that is on the same day.
    const change = this.#offsets.find(({ from, offsetMs }, index) => {
      const before = this.#offsets[index - 1]?.offsetMs
      return before !== undefined && wall >= from + before && wall < from + offsetMs
    })
    if (!change) return []
    const isSameDay = Math.floor((change.from + change.offsetMs) / dayMs) === Math.floor(wall / dayMs)
    return isSameDay ? [change.from] : []
  }

  #search(low: number, high: number): void {
    let before = low
    let after = high
    while (after - before > 1_000) {
      const middle = before + Math.floor((after - before) / 2_000) * 1_000
      if (this.#ask(middle) === this.#ask(low)) before = middle
      else after = middle
    }
    this.#offsets.push({ from: after, offsetMs: this.#ask(after) })
    if (this.#ask(after) !== this.#ask(high)) this.#search(after, high)
  }

  #ask(at: number): number {
    const parts = Object.fromEntries(this.#format.formatToParts(at).map(({ type, value }) => [type, Number(value)]))
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1_000) * 1_000
  }
}

const dayMs = 86_400_000
/** No zone changes twice in so short a time and back. */
const stepMs = 5 * dayMs
