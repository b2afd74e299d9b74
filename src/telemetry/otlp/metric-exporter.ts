import type { Clock, Timer } from '../../domain/clock.ts'
import { messageOf } from '../../domain/errors.ts'
import type { ExportCounts } from '../trace-metrics.ts'
import type { Sent } from './otlp-client.ts'

export type MetricExporterOptions = {
  clock: Clock
  intervalMs: number
  /** The longest time for one export with all its attempts. */
  timeoutMs: number
  /** All metrics as they are now. */
  message(): Promise<string>
  /** Sends one message. Never rejects. */
  send(json: string, signal: AbortSignal): Promise<Sent>
  /** Called for the first failure after a success, so that a collector that is down does not fill the log. */
  onFailure(reason: string): void
}

/**
 * Sends all metrics at intervals, one message at a time. Nothing waits in memory: a later message has everything that
 * an earlier one had.
 */
export class MetricExporter {
  readonly #options: MetricExporterOptions
  readonly counts: ExportCounts = { exported: 0, failed: 0 }
  readonly #stopping = new AbortController()
  #timer: Timer | undefined
  #exporting: Promise<void> | undefined
  #isFailing = false

  constructor(options: MetricExporterOptions) {
    this.#options = options
  }

  start(): void {
    const { clock, intervalMs, timeoutMs } = this.#options
    this.#timer = clock.setTimer(intervalMs, () => {
      this.start()
      this.#exporting ??= this.#export(timeoutMs, this.#stopping.signal).finally(() => {
        this.#exporting = undefined
      })
    })
  }

  /** Sends the last values, for `graceMs` at most. They replace a message in flight. */
  async stop(graceMs: number): Promise<void> {
    this.#timer?.cancel()
    this.#stopping.abort(new Error('the service stops'))
    await this.#exporting
    await this.#export(graceMs)
  }

  /** `replaced`: aborts when the outcome no longer matters. */
  async #export(limitMs: number, replaced?: AbortSignal): Promise<void> {
    const { clock, message, send } = this.#options
    const late = new AbortController()
    const timer = clock.setTimer(limitMs, () => late.abort(new Error(`not exported in ${limitMs} ms`)))
    const signal = replaced ? AbortSignal.any([late.signal, replaced]) : late.signal
    try {
      const json = await message()
      const sent = await send(json, signal)
      if (replaced?.aborted) return
      this.#ended(sent.ok && sent.rejected === 0 ? undefined : (sent.reason ?? 'the collector rejected values'))
    } catch (error) {
      this.#ended(messageOf(error))
    } finally {
      timer.cancel()
    }
  }

  #ended(failure: string | undefined): void {
    if (failure === undefined) this.counts.exported += 1
    else this.counts.failed += 1
    if (failure !== undefined && !this.#isFailing) this.#options.onFailure(failure)
    this.#isFailing = failure !== undefined
  }
}
