import type { Difference } from '../../domain/workflow/test-comparison.ts'
import type { TestResult } from '../../engine/tests/suite.ts'

/** The outcome of one test file. `error`: why none of its tests could run. `updated`: tests that were rewritten. */
export type FileReport = {
  file: string
  workflow: string | null
  error: string | null
  results: readonly TestResult[]
  updated: readonly string[]
}

export type Counts = { passed: number; failed: number; stale: number; updated: number; brokenFiles: number }

export function countsOf(reports: readonly FileReport[]): Counts {
  const results = reports.flatMap(({ results }) => results)
  const of = (status: TestResult['status']) => results.filter((each) => each.status === status).length
  return {
    ...{ passed: of('passed'), failed: of('failed'), stale: of('stale') },
    updated: reports.reduce((sum, { updated }) => sum + updated.length, 0),
    brokenFiles: reports.filter(({ error }) => error !== null).length,
  }
}

/** The lines about a file for people. Tests that passed have one line, others show each difference. */
export function fileText({ file, error, results, updated }: FileReport): string {
  if (error !== null) return [file, ...indented(error, '  ✗ ')].join('\n')
  const isUpdated = new Set(updated)
  const lines = results.flatMap((result) => {
    const { name, status, durationMs, differences } = result
    if (status === 'passed') return [`  ✓ ${name} (${Math.round(durationMs)} ms)`]
    const word = { failed: '', stale: ' (stale)' }[status]
    const note = isUpdated.has(name) ? ' – updated' : ''
    return [`  ✗ ${name}${word}${note}`, ...differences.flatMap(differenceLines)]
  })
  return [file, ...lines].join('\n')
}

export function totalText({ passed, failed, stale, updated, brokenFiles }: Counts, durationMs: number): string {
  const parts = [
    `${passed} passed`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(stale > 0 ? [`${stale} stale`] : []),
    ...(brokenFiles > 0 ? [`${brokenFiles} ${brokenFiles === 1 ? 'file' : 'files'} could not be tested`] : []),
    ...(updated > 0 ? [`${updated} updated`] : []),
  ]
  return `${parts.join(', ')} in ${(durationMs / 1_000).toFixed(2)} s`
}

/** A difference as lines: what is wrong, then `-` what was expected and `+` what happened. */
export function differenceLines({ message, ...values }: Difference): string[] {
  const lines = indented(message, '      ')
  if ('expected' in values) lines.push(...valueLines(values.expected, '        - '))
  if ('actual' in values) lines.push(...valueLines(values.actual, '        + '))
  return lines
}

function valueLines(value: unknown, prefix: string): string[] {
  const lines = (JSON.stringify(value, null, 2) ?? 'nothing').split('\n')
  const shown =
    lines.length > linesMax ? [...lines.slice(0, linesMax), `… (${lines.length - linesMax} more lines)`] : lines
  return shown.map((line) => prefix + line)
}

/** The first line has the prefix, further lines are indented as far. */
function indented(text: string, prefix: string): string[] {
  return text.split('\n').map((line, index) => (index === 0 ? prefix : ' '.repeat(prefix.length)) + line)
}

const linesMax = 20
