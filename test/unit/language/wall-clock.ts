/**
 * Local times of a time zone. They are calculated from the offsets of `Intl` and the moments at which these change, and
 * share no code with the implementation under test.
 */
export class WallClock {
  /** From `from` until the next entry, the offset is `offsetMs`. */
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

  /**
   * The moments with one of these local times. `isFixed`: each occurs once a day, also when the clocks change.
   */
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

  /** The moments with this local time, which is given as if it were UTC. */
  #momentsOf(wall: number, isFixed: boolean): number[] {
    const moments = this.#offsets.flatMap(({ from, offsetMs }, index) => {
      const moment = wall - offsetMs
      const end = this.#offsets[index + 1]?.from ?? Number.POSITIVE_INFINITY
      return moment >= from && moment < end ? [moment] : []
    })
    if (!isFixed || moments.length === 1) return moments
    if (moments.length > 1) return [Math.min(...moments)]
    // The clocks skip it: the moment of that change, if it is on the same day.
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
/** No zone changes twice in this time. */
const stepMs = 5 * dayMs
