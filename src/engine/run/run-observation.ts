import type { RunRecord, Span } from '../../domain/run/log.ts'
import type { RunInSight, RunObserver } from '../../domain/run/run-observer.ts'
import type { Run } from './run.ts'

/** The view of a run for observers. */
export function inSight({ facts, startedAt, environment }: Run, root: Span): RunInSight {
  return {
    ...{ ...facts, startedAt, root },
    // A workflow that is called later may have secrets of its own.
    get secrets() {
      return environment.redactor
    },
  }
}

/** Reports to the observer whether the log entry was written. */
export function reported(
  written: Promise<unknown>,
  record: RunRecord,
  observerNow: () => RunObserver | undefined,
): Promise<void> {
  return written.then(
    () => observerNow()?.recorded?.(record),
    (error: unknown) => {
      observerNow()?.lost?.(error)
      throw error
    },
  )
}
