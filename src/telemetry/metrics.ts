import type { Clock } from '../domain/clock.ts'
import { type FamilyType, familyText, isLabelName, isMetricName, type Sample } from './exposition.ts'

export type MetricsOptions = { clock: Pick<Clock, 'setTimer'> }

/**
 * Every number that the service shows whoever watches it, in the text that Prometheus reads. What happens often is counted
 * in a `Counter` or a `Histogram` that its place holds on to: a few additions, nothing is looked up by name. What is
 * simply there (a queue's length, a file's size) is asked for when somebody looks.
 */
export class Metrics {
  readonly #clock: MetricsOptions['clock']
  readonly #families = new Map<string, Family>()

  constructor({ clock }: MetricsOptions) {
    this.#clock = clock
  }

  /** A number that only grows; its name ends in `_total`. */
  counter(name: string, help: string): Counter {
    return this.counters(name, help, []).of()
  }

  counters(name: string, help: string, labels: readonly string[]): Labelled<Counter> {
    const series = new Labelled(labels, () => new Counter())
    this.#add({ name, help, type: 'counter', labels, read: () => series.samples() })
    return series
  }

  /** How often a measured value fell below each of `bounds`, which grow. */
  histogram(name: string, help: string, bounds: readonly number[]): Histogram {
    return this.histograms(name, help, [], bounds).of()
  }

  histograms(name: string, help: string, labels: readonly string[], bounds: readonly number[]): Labelled<Histogram> {
    const series = new Labelled(labels, () => new Histogram(bounds))
    this.#add({ name, help, type: 'histogram', labels, read: () => series.samples() })
    return series
  }

  /** A number that is read when somebody looks. Undefined when it is not known: then nothing is shown. */
  gauge(name: string, help: string, read: () => Awaitable<number | undefined>): void {
    this.reading({ name, help, type: 'gauge', labels: [] }, async () => single(await read()))
  }

  /** Several of one name, told apart by labels; or a count that somebody else keeps. */
  reading(about: FamilyFacts, read: () => Awaitable<readonly Sample[]>): void {
    this.#add({ ...about, read })
  }

  /**
   * The whole text. A value that does not come in time is left out, and so is one that cannot be had: a scrape that fails
   * because the disk does would hide everything else just when it is needed.
   */
  async text(): Promise<string> {
    const families = [...this.#families.values()]
    const texts = await Promise.all(
      families.map(async (family) => familyText(family, (await this.#inTime(family.read)) ?? [])),
    )
    return texts.join('')
  }

  #add(family: Family): void {
    const { name, labels } = family
    if (!isMetricName(name) || !labels.every(isLabelName)) throw new Error(`${name} is no name of a metric`)
    if (this.#families.has(name)) throw new Error(`There is a metric ${name} already`)
    this.#families.set(name, family)
  }

  async #inTime(read: Family['read']): Promise<readonly Sample[] | undefined> {
    try {
      const reading = read()
      if (!(reading instanceof Promise)) return reading
      return await this.#before(reading)
    } catch {
      return undefined
    }
  }

  #before<Value>(reading: Promise<Value>): Promise<Value | undefined> {
    return new Promise((resolve, reject) => {
      const timer = this.#clock.setTimer(readMsMax, () => resolve(undefined))
      reading.then(resolve, reject).finally(() => timer.cancel())
    })
  }
}

export type FamilyFacts = { name: string; help: string; type: FamilyType; labels: readonly string[] }
type Family = FamilyFacts & { read(): Awaitable<readonly Sample[]> }
type Awaitable<Value> = Value | Promise<Value>

/** What can be had at once is; the rest has so long. Prometheus gives up on a whole scrape after 10 s. */
const readMsMax = 1_000

/** A number that only grows. */
export class Counter {
  value = 0

  add(amount = 1): void {
    this.value += amount
  }

  samples(labels: readonly string[]): Sample[] {
    return [{ labels, value: this.value }]
  }
}

/** Counts measured values by size. Values are in the unit that the metric's name ends in. */
export class Histogram {
  readonly #bounds: Float64Array
  /** Of each bound, those not counted by a smaller one; the last is of all that are larger. */
  readonly #counts: Float64Array
  #sum = 0

  constructor(bounds: readonly number[]) {
    this.#bounds = Float64Array.from(bounds)
    this.#counts = new Float64Array(bounds.length + 1)
  }

  observe(value: number): void {
    const bounds = this.#bounds
    let at = 0
    while (at < bounds.length && value > bounds[at]!) at++
    this.#counts[at]!++
    this.#sum += value
  }

  samples(labels: readonly string[]): Sample[] {
    let count = 0
    const buckets = Array.from(this.#counts, (each, at): Sample => {
      count += each
      return { suffix: '_bucket', labels, bound: this.#bounds[at] ?? Number.POSITIVE_INFINITY, value: count }
    })
    return [...buckets, { suffix: '_sum', labels, value: this.#sum }, { suffix: '_count', labels, value: count }]
  }
}

/**
 * Counters or histograms of one name, told apart by the values of labels. Their number has a bound, whatever the values
 * are made of: each lives as long as the service, here and in whatever stores what is read.
 */
export class Labelled<Measure extends { samples(labels: readonly string[]): Sample[] }> {
  readonly #count: number
  readonly #make: () => Measure
  readonly #series = new Map<string, { values: readonly string[]; measure: Measure }>()

  constructor(labels: readonly string[], make: () => Measure) {
    this.#count = labels.length
    this.#make = make
  }

  /** The one with these values, in the order of the labels. Hold on to it where it is used often. */
  of(...values: readonly string[]): Measure {
    if (values.length !== this.#count) throw new Error(`${this.#count} labels, and ${values.length} values`)
    const key = values.length === 1 ? (values[0] ?? '') : JSON.stringify(values)
    const known = this.#series.get(key)
    if (known) return known.measure
    if (this.#series.size >= seriesMax && values.some((value) => value !== other)) {
      return this.of(...values.map(() => other))
    }
    const measure = this.#make()
    this.#series.set(key, { values, measure })
    return measure
  }

  samples(): Sample[] {
    return [...this.#series.values()].flatMap(({ values, measure }) => measure.samples(values))
  }
}

/** Seconds: from what answers out of memory to what waits for people. */
export const durationBoundsS: readonly number[] = [
  ...[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800],
]

/** Series of one name at most; what comes after is counted together, under the value `other`. */
export const seriesMax = 1_000
const other = 'other'

function single(value: number | undefined): Sample[] {
  return value === undefined ? [] : [{ labels: [], value }]
}
