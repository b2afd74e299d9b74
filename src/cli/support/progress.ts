import type { Span } from '../../domain/run/log.ts'
import type { RunObserver } from '../../domain/run/run-observer.ts'

/** Prints one line when a block starts and one when it ends, with every failed attempt in between. */
export function progressOf(say: (line: string) => void): RunObserver {
  return {
    started: (span) => say(`  … ${label(span)}`),
    ended: (span) => {
      // The error of the last attempt is the block's own error.
      for (const { number, error } of span.attempts?.slice(0, -1) ?? [])
        if (error) say(`    attempt ${number}: ${error}`)
      const failure = span.error ? `: ${span.error.message}` : ''
      say(`  ${marks[span.status]} ${label(span)}  ${span.durationMs} ms${failure}`)
    },
  }
}

const marks: Readonly<Record<Span['status'], string>> = { success: '✓', error: '✗', skipped: '-', cancelled: '×' }

function label({ name, type }: Span): string {
  return `${name} (${type})`
}
