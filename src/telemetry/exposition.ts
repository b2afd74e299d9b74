/** Prometheus' text format, version 0.0.4. */
export const metricsType = 'text/plain; version=0.0.4; charset=utf-8'

export type FamilyType = 'counter' | 'gauge' | 'histogram'

/** `labels`: values in the order of the family's label names. `bound`: for a histogram's bucket. */
export type Sample = {
  suffix?: '_bucket' | '_sum' | '_count'
  labels: readonly string[]
  bound?: number
  value: number
}

/** One metric with all its series; empty when it has none. */
export function familyText(
  { name, help, type, labels }: { name: string; help: string; type: FamilyType; labels: readonly string[] },
  samples: readonly Sample[],
): string {
  if (samples.length === 0) return ''
  const lines = samples.map((sample) => {
    const pairs = labels.map((label, at) => `${label}="${escapeValue(sample.labels[at] ?? '')}"`)
    if (sample.bound !== undefined) pairs.push(`le="${numberText(sample.bound)}"`)
    const braces = pairs.length === 0 ? '' : `{${pairs.join(',')}}`
    return `${name}${sample.suffix ?? ''}${braces} ${numberText(sample.value)}\n`
  })
  return `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n${lines.join('')}`
}

export function isMetricName(name: string): boolean {
  return /^[a-z_][a-z0-9_]*$/.test(name)
}

/** `le` is reserved for histograms, a double underscore for Prometheus itself. */
export function isLabelName(name: string): boolean {
  return /^[a-z][a-z0-9_]*$/.test(name) && name !== 'le' && !name.includes('__')
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

function escapeValue(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"')
}

function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf'
  if (value === Number.NEGATIVE_INFINITY) return '-Inf'
  return String(value)
}
