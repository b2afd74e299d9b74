import type { Clock } from '../domain/clock.ts'
import { type FamilyType, familyText, isLabelName, isMetricName, type Sample } from './exposition.ts'

export type MetricsOptions = { clock: Pick<Clock, 'setTimer'> }

/**
 * All metrics of the service, for Prometheus and OpenTelemetry. Frequent events are counted in a `Counter` or
 * `Histogram` that the code keeps a reference to; counting is a few additions, without a look-up. Current values, such
 * as queue lengths and file sizes, are read at each scrape.
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

  /** Counts how many values fell below each of `bounds`, which must ascend. */
  histogram(name: string, help: string, bounds: readonly number[]): Histogram {
    return this.histograms(name, help, [], bounds).of()
  }

  histograms(name: string, help: string, labels: readonly string[], bounds: readonly number[]): Labelled<Histogram> {
    const series = new Labelled(labels, () => new Histogram(bounds))
    this.#add({ name, help, type: 'histogram', labels, read: () => series.samples() })
    return series
  }

  /** A number read at each scrape. Undefined means unknown and is not shown. */
  gauge(name: string, help: string, read: () => Awaitable<number | undefined>): void {
    this.reading({ name, help, type: 'gauge', labels: [] }, async () => single(await read()))
  }

  /** Several samples under one name with labels, or a counter kept elsewhere. */
  reading(about: FamilyFacts, read: () => Awaitable<readonly Sample[]>): void {
    this.#add({ ...about, read })
  }

  /**
   * Every metric with its samples. Values that fail or take too long are skipped: a scrape that fails because the disk
   * does would hide everything else just when it is needed.
   */
  read(): Promise<FamilyReading[]> {
    return Promise.all(
      [...this.#families.values()].map(async ({ read, ...about }) => ({
        ...about,
        samples: (await this.#inTime(read)) ?? [],
      })),
    )
  }

  /** The same as text. */
  async text(): Promise<string> {
    return (await this.read()).map((family) => familyText(family, family.samples)).join('')
  }

  #add(family: Family): void {
    const { name, labels } = family
    if (!isMetricName(name) || !labels.every(isLabelName)) throw new Error(`${name} is not a valid metric name`)
    if (this.#families.has(name)) throw new Error(`The metric ${name} already exists`)
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
export type FamilyReading = FamilyFacts & { samples: readonly Sample[] }
type Family = FamilyFacts & { read(): Awaitable<readonly Sample[]> }
type Awaitable<Value> = Value | Promise<Value>

/** Time limit for values that are not available immediately. Prometheus gives up on a scrape after 10 s. */
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

/** Counts values by size, in the unit that the metric's name ends in. */
export class Histogram {
  readonly #bounds: Float64Array
  /** The count of each bound excludes smaller bounds; the last one counts all larger values. */
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
 * Counters or histograms with the same name and different label values. Their number is limited, because each exists as
 * long as the service, here and in Prometheus.
 */
export class Labelled<Measure extends { samples(labels: readonly string[]): Sample[] }> {
  readonly #count: number
  readonly #make: () => Measure
  readonly #series = new Map<string, { values: readonly string[]; measure: Measure }>()

  constructor(labels: readonly string[], make: () => Measure) {
    this.#count = labels.length
    this.#make = make
  }

  /** The one with these label values. Keep a reference where it is used often. */
  of(...values: readonly string[]): Measure {
    if (values.length !== this.#count) throw new Error(`Expected ${this.#count} label values, but got ${values.length}`)
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

/** In seconds: from responses out of memory to runs that wait for people. */
export const durationBoundsS: readonly number[] = [
  ...[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800],
]

/** Maximum number of series per name. Further ones are counted together under `other`. */
export const seriesMax = 1_000
const other = 'other'

function single(value: number | undefined): Sample[] {
  return value === undefined ? [] : [{ labels: [], value }]
}
