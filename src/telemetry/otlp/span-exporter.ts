import type { Clock, Timer } from '../../domain/clock.ts'
import type { SpanCounts } from '../trace-metrics.ts'
import type { Sent } from './otlp-client.ts'

export type SpanExporterOptions = {
  clock: Clock
  /** Sends one message. Never rejects. */
  send(json: string, signal: AbortSignal): Promise<Sent>
  /** The message up to its spans, and what follows them. */
  envelope: { before: string; after: string }
  queueMax: number
  batchMax: number
  delayMs: number
  /** Called for the first failure after a success, so that a collector that is down does not fill the log. */
  onFailure(reason: string): void
}

/** Collects the JSON texts of spans, and sends them in batches, one at a time. The queue is bounded. */
export class SpanExporter {
  readonly #options: SpanExporterOptions
  readonly counts: SpanCounts = { exported: 0, dropped: 0, failed: 0 }
  #queue: string[] = []
  #chars = 0
  #timer: Timer | undefined
  #sending: Promise<void> | undefined
  readonly #stopped = new AbortController()
  #isFailing = false

  constructor(options: SpanExporterOptions) {
    this.#options = options
  }

  /** The number of further spans that may wait. */
  get room(): number {
    return this.#chars > charsMax ? 0 : Math.max(0, this.#options.queueMax - this.#queue.length)
  }

  drop(count: number): void {
    this.counts.dropped += count
  }

  add(texts: readonly string[]): void {
    const { room } = this
    const taken = room < texts.length ? texts.slice(0, room) : texts
    this.drop(texts.length - taken.length)
    for (const text of taken) {
      this.#queue.push(text)
      this.#chars += text.length
    }
    if (this.#queue.length === 0 || this.#sending) return
    if (this.#queue.length >= this.#options.batchMax) this.#dispatch()
    else this.#timer ??= this.#options.clock.setTimer(this.#options.delayMs, () => this.#dispatch())
  }

  /** Sends what waits, for `graceMs` at most. */
  async stop(graceMs: number): Promise<void> {
    const timer = this.#options.clock.setTimer(graceMs, () => this.#stopped.abort(new Error('the service stops')))
    while (this.#queue.length > 0 || this.#sending) {
      if (!this.#sending) this.#dispatch()
      await this.#sending
    }
    timer.cancel()
  }

  #dispatch(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    const batch = this.#queue.splice(0, this.#options.batchMax)
    for (const { length } of batch) this.#chars -= length
    this.#sending = this.#send(batch).finally(() => {
      this.#sending = undefined
      // For the spans that arrived in the meantime.
      if (!this.#stopped.signal.aborted) this.add([])
    })
  }

  async #send(batch: readonly string[]): Promise<void> {
    const { before, after } = this.#options.envelope
    const { signal } = this.#stopped
    const sent: Sent = signal.aborted
      ? { ok: false, reason: 'the service stops' }
      : await this.#options.send(before + batch.join(',') + after, signal)
    const failed = sent.ok ? Math.min(sent.rejected, batch.length) : batch.length
    this.counts.failed += failed
    this.counts.exported += batch.length - failed
    if (failed > 0 && !this.#isFailing) this.#options.onFailure(sent.reason ?? 'the collector rejected spans')
    this.#isFailing = failed > 0
  }
}

/** The maximum number of characters of all waiting spans. */
const charsMax = 16_777_216
