import { forgetOldest } from '../../domain/forget-oldest.ts'
import type { RunRecord } from '../../domain/run/log.ts'
import type { InSlices, Slices } from '../../domain/slices.ts'
import { type TraceParent, traceHeaders, traceIdOf, traceIdsOf } from '../../domain/trace-context.ts'
import type { TraceFields } from '../logger.ts'
import type { SpanCounts } from '../trace-metrics.ts'
import { spanCount, spanTexts } from './run-spans.ts'
import type { Sampler } from './sampler.ts'
import type { SpanExporter } from './span-exporter.ts'

type Headers = [name: string, value: string][]

export type RunTracesOptions = {
  sampler: Sampler
  exporter: SpanExporter
  inSlices: InSlices
  onBug(cause: unknown): void
}

/**
 * Exports ended runs as traces. A run never waits for this: its spans are written in slices after its end, and dropped
 * when too many wait.
 */
export class RunTraces {
  readonly #options: RunTracesOptions
  /** Runs whose spans are not written yet. They hold the values of their blocks. */
  readonly #waiting: RunRecord[] = []
  #writing: Promise<void> | undefined
  /** The callers of the latest runs, for webhook deliveries and log lines. */
  readonly #parents = new Map<string, TraceParent>()

  constructor(options: RunTracesOptions) {
    this.#options = options
  }

  get counts(): SpanCounts {
    return this.#options.exporter.counts
  }

  isSampled(executionId: string, parent: TraceParent | undefined): boolean {
    return this.#options.sampler(traceIdOf(executionId, parent), parent)
  }

  /** The headers of a request that belongs to a span of a run. */
  readonly headersOf = (executionId: string, parent: TraceParent | undefined, span: { id: string }): Headers => {
    const ids = traceIdsOf(executionId, parent)
    const sampled = this.isSampled(executionId, parent)
    const { state } = parent ?? {}
    return traceHeaders({ traceId: ids.traceId, parentId: ids.spanId(span), sampled, ...(state && { state }) })
  }

  /** The same for a request that follows the end of a run. A process that knows only the log has forgotten callers. */
  readonly headersAfter = (executionId: string): Headers =>
    this.headersOf(executionId, this.#parents.get(executionId), firstSpan)

  /** Remembers the caller of a run. */
  readonly follow = (executionId: string, caller: TraceParent): void => {
    // The latest ones are at the end.
    this.#parents.delete(executionId)
    this.#parents.set(executionId, caller)
    forgetOldest(this.#parents, parentsMax)
  }

  /** The fields of a log line about a run, with the names that the standard has for text formats. */
  readonly logFieldsOf = (executionId: string): TraceFields => {
    const parent = this.#parents.get(executionId)
    const { traceId, spanId } = traceIdsOf(executionId, parent)
    return {
      trace_id: traceId,
      span_id: spanId(firstSpan),
      trace_flags: this.isSampled(executionId, parent) ? '01' : '00',
    }
  }

  /** Marks the root span with the trace, for the log entry, and exports the run when there is time. */
  ended(record: RunRecord): void {
    const { exporter, inSlices, onBug } = this.#options
    if (record.traceParent) this.follow(record.executionId, record.traceParent)
    if (!this.isSampled(record.executionId, record.traceParent)) return
    record.root.traceId = traceIdOf(record.executionId, record.traceParent)
    if (exporter.room === 0 || this.#waiting.length >= waitingMax) {
      exporter.drop(spanCount(record.root))
      return
    }
    this.#waiting.push(record)
    this.#writing ??= inSlices(this.#write())
      .catch(onBug)
      .finally(() => {
        this.#writing = undefined
      })
  }

  /** Sends what waits, for `graceMs` at most. */
  async stop(graceMs: number): Promise<void> {
    await this.#writing
    await this.#options.exporter.stop(graceMs)
  }

  *#write(): Slices<void> {
    const { exporter } = this.#options
    for (let record = this.#waiting.shift(); record; record = this.#waiting.shift()) {
      const { texts, left } = yield* spanTexts(record, exporter.room)
      exporter.drop(left)
      exporter.add(texts)
      yield
    }
  }
}

const waitingMax = 100
const parentsMax = 10_000
/** The span of a run as a whole is opened first. */
const firstSpan = { id: 's1' }
