import parse from 'parse-prometheus-text-format'

/** One metric, as a parser of Prometheus' format reads it. */
export type Family = { name: string; help: string; type: 'counter' | 'gauge' | 'histogram'; series: Series[] }
/** `name` ends in `_bucket`, `_sum` or `_count` if it belongs to a histogram. */
export type Series = { name: string; labels: Record<string, string>; value: number }

/** Parses a scrape. Throws when it breaks the format. */
export function readScrape(text: string): Family[] {
  if (!text.endsWith('\n')) throw new Error('The last line has no line break.')
  const types = new Map(
    [...text.matchAll(/^# TYPE (\S+) (counter|gauge|histogram)$/gm)].map(([, name, type]) => [name, type]),
  )
  const families: Family[] = []
  // The parser merges the series of a histogram and loses labels, so it receives samples without types.
  for (const { name, help, metrics } of parse(text.replaceAll(/^# TYPE .*\n/gm, ''))) {
    const owner = families.find((family) => belongs(name, family))
    const series = metrics.map(({ labels = {}, value }) => ({ name, labels, value: numberOf(value) }))
    if (owner) owner.series.push(...series)
    else families.push({ name, help, type: types.get(name) as Family['type'], series })
  }
  return families
}

/** The value of the series with these labels; undefined when it does not exist. */
export function valueIn(
  families: readonly Family[],
  name: string,
  labels: Record<string, string> = {},
): number | undefined {
  return families.flatMap(({ series }) => series).find((one) => one.name === name && Bun.deepEquals(one.labels, labels))
    ?.value
}

/** Violations of Prometheus' published rules for names, help texts and histograms. */
export function findScrapeFaults(families: readonly Family[]): string[] {
  return families.flatMap((family) => {
    const { name, help, type, series } = family
    const faults: string[] = []
    const refuse = (isWrong: boolean, why: string) => isWrong && faults.push(`${name}: ${why}`)
    refuse(type === undefined, 'has no type')
    refuse(help.length < 10 || !help.endsWith('.'), 'has no help text that is a sentence')
    refuse((type === 'counter') !== name.endsWith('_total'), 'counters end in _total, and nothing else does')
    refuse(/_(ms|milliseconds|minutes|kb|mb|kilobytes|megabytes|percent)(_|$)/.test(name), 'is not in a base unit')
    refuse(/_(count|sum|bucket)$/.test(name), 'has the suffix of a histogram series')
    refuse(/counter|gauge|histogram/.test(name), 'contains the name of a metric type')
    refuse(!/^(millrace|http|process)_/.test(name), 'has an unknown prefix')
    const keys = series.map((one) => `${one.name}${JSON.stringify(Object.entries(one.labels).toSorted())}`)
    refuse(new Set(keys).size !== keys.length, 'has a duplicate series')
    refuse(
      series.some(({ value }) => Number.isNaN(value)),
      'has a value that is not a number',
    )
    refuse(type === 'counter' && series.some(({ value }) => value < 0), 'has a negative value')
    return type === 'histogram' ? [...faults, ...histogramFaults(family)] : faults
  })
}

function histogramFaults({ name, series }: Family): string[] {
  const groups = Map.groupBy(series, ({ labels: { le: _bound, ...rest } }) => JSON.stringify(rest))
  return [...groups].flatMap(([labels, group]) => {
    const buckets = group.filter((one) => one.name === `${name}_bucket`)
    const bounds = buckets.map((one) => numberOf(one.labels['le'] ?? 'NaN'))
    const counts = buckets.map(({ value }) => value)
    const total = group.find((one) => one.name === `${name}_count`)?.value
    const isOrdered = (list: number[]) => list.every((each, at) => at === 0 || each >= (list[at - 1] ?? 0))
    const isRight =
      isOrdered(bounds) && isOrdered(counts) && bounds.at(-1) === Number.POSITIVE_INFINITY && counts.at(-1) === total
    return isRight && group.some((one) => one.name === `${name}_sum`) ? [] : [`${name}${labels}: is not a histogram`]
  })
}

function belongs(name: string, family: Family): boolean {
  return family.type === 'histogram' && name.replace(/_(bucket|sum|count)$/, '') === family.name
}

function numberOf(text: string): number {
  if (text === '+Inf') return Number.POSITIVE_INFINITY
  if (text === '-Inf') return Number.NEGATIVE_INFINITY
  return /^-?\d+(\.\d+)?(e[+-]?\d+)?$/.test(text) ? Number(text) : Number.NaN
}
