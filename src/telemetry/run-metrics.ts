import type { RunFailureCode, RunRecord } from '../domain/run/log.ts'
import type { TriggerKind } from '../domain/workflow/workflow.ts'
import { type Counter, durationBoundsS, type Histogram, type Labelled, type Metrics } from './metrics.ts'

/** Runs that ended: number, outcome and duration. */
export class RunMetrics {
  readonly #counts: Labelled<Counter>
  readonly #durations: Labelled<Histogram>
  readonly #waits: Histogram
  readonly #limited: Labelled<Counter>
  readonly #triggers = new Map<TriggerKind, TriggerMetrics>()

  constructor(metrics: Metrics) {
    this.#counts = metrics.counters('millrace_runs_total', 'Runs that ended.', ['trigger', 'outcome'])
    this.#durations = metrics.histograms(
      'millrace_run_duration_seconds',
      'Time from the start of a run until its last block ended.',
      ['trigger'],
      durationBoundsS,
    )
    this.#waits = metrics.histogram(
      'millrace_job_wait_seconds',
      'Time from accepting an asynchronous run until it started, counted when it ends.',
      durationBoundsS,
    )
    this.#limited = metrics.counters(
      'millrace_limited_starts_total',
      'Starts over the limits of their workflows: queued, skipped, refused, or replacing an older run.',
      ['outcome'],
    )
    this.#of('api')
  }

  /** Counts a start over the limits of its workflow. */
  limited(outcome: string): void {
    this.#limited.of(outcome).add()
  }

  /** Called once per run, whether or not its log entry can be written. */
  ended(record: EndedRun): void {
    const { trigger, failure, durationMs, createdAt, startedAt } = record
    const { success, failures, durations } = this.#triggers.get(trigger) ?? this.#of(trigger)
    if (failure === null) success.value++
    else failures[failure.code].value++
    durations.observe(durationMs / 1000)
    if (createdAt !== null) this.#waits.observe((startedAt - createdAt) / 1000)
  }

  #of(trigger: TriggerKind): TriggerMetrics {
    const count = (outcome: string) => this.#counts.of(trigger, outcome)
    const made: TriggerMetrics = {
      success: count('success'),
      failures: {
        EXECUTION_FAILED: count('failed'),
        EXECUTION_TIMEOUT: count('timed_out'),
        CANCELLED: count('cancelled'),
        CLIENT_CLOSED: count('client_closed'),
        INTERRUPTED: count('interrupted'),
      },
      durations: this.#durations.of(trigger),
    }
    this.#triggers.set(trigger, made)
    return made
  }
}

type EndedRun = Pick<RunRecord, 'trigger' | 'failure' | 'durationMs' | 'createdAt' | 'startedAt'>
type TriggerMetrics = { success: Counter; failures: Record<RunFailureCode, Counter>; durations: Histogram }
