import type { LogRow } from '../domain/run/log.ts'
import { createIsoTime } from '../domain/text/iso-time.ts'
import type { DeliverySource, RunSource } from '../domain/webhook/delivery.ts'
import type { DeliveryEvent } from '../domain/webhook/run-event.ts'
import { include } from '../domain/webhook/subscription.ts'
import type { DeliveryNeed } from '../store/delivery-store.ts'
import { eventOf, originOf, payloadOf } from './payload.ts'
import type { QueuedDelivery, Source } from './subscription-queue.ts'

export type BodiesOptions = {
  /** Reads runs from disk, in rising order of sequence. */
  read(needs: readonly DeliveryNeed[]): Promise<DeliverySource[]>
  /** Puts signed URLs into the file objects of a JSON text. The same arguments give the same text. */
  freshen(text: string, runFiles: readonly string[], at: number): string | Promise<string>
}

/** `origin`: the ID of the execution or alert that it is about. */
export type Message = { origin: string; event: DeliveryEvent; body: string }

/** Makes the bodies of deliveries, from memory for runs that have just ended and from the log otherwise. */
export class Bodies {
  readonly #options: BodiesOptions
  readonly #iso = createIsoTime()
  /** Characters of all sources in memory, and an estimate for those that are being read. */
  #chars = 0
  /** The average characters of the entries that were last read for a subscription. */
  readonly #lengths = new Map<number, number>()

  constructor(options: BodiesOptions) {
    this.#options = options
  }

  /** Keeps a run for `uses` deliveries; undefined when there is no room for it. */
  sourceOf(row: LogRow, uses: number): Source | undefined {
    const chars = row.finalOutput.length + row.traceSpans.length
    if (!row.webhooks || this.#chars + chars > charsMax) return undefined
    const { sequence, workflowId, executionId, level, trigger, startedAt, endedAt, durationMs } = row
    const run: RunSource = {
      ...{ sequence, workflowId, executionId, level, trigger, startedAt, endedAt, durationMs },
      pausedMs: row.pausedMs ?? null,
      cost: row.cost,
      finalOutput: row.finalOutput,
      traceSpans: row.traceSpans,
      files: row.files?.text ?? null,
      facts: row.webhooks.facts,
    }
    return this.#keep(run, uses)
  }

  /** Characters of the long texts in a delivery's body, or an estimate. */
  charsOf(item: QueuedDelivery): number {
    if (!isLong(item)) return 0
    return item.source?.chars ?? this.#lengthOf([item])
  }

  /** A delivery no longer needs its source. */
  release(item: QueuedDelivery): void {
    this.#release(item.source)
    item.source = undefined
    item.reading = undefined
  }

  /** One delivery, which is not in memory, does not need this source. */
  releaseOne(source: Source | undefined): void {
    this.#release(source)
  }

  #release(source: Source | undefined): void {
    if (!source) return
    source.uses -= 1
    if (source.uses === 0) this.#chars -= source.chars
  }

  /** Undefined when the log entry or the event is gone. Rejects when it cannot be read now. */
  async of(item: QueuedDelivery): Promise<Message | undefined> {
    if (!item.source) await (item.reading ?? this.readAhead([item]))
    if (!item.source) return undefined
    const { source, include } = item
    const origin = originOf(source.run)
    const making = source.bodies.get(include) ?? this.#make(source.run, include)
    source.bodies.set(include, making)
    try {
      const body = typeof making === 'string' ? making : await making
      // The last delivery needs only the body while its receiver takes its time.
      if (source.uses === 1) source.run = withoutTexts(source.run)
      return { origin, event: eventOf(source.run), body }
    } catch (error) {
      source.bodies.delete(include)
      throw error
    }
  }

  /**
   * Reads the runs of several deliveries with one query. Rejects when the log cannot be read now; the deliveries can
   * then be read again. Callers that only read ahead may ignore the promise.
   */
  readAhead(items: readonly QueuedDelivery[]): Promise<void> {
    const ahead = items.slice(0, this.#aheadMax(items))
    if (ahead.length === 0) return Promise.resolve()
    const chars = this.#lengthOf(ahead) * ahead.length
    this.#chars += chars
    const inOrder = ahead.toSorted((one, other) => one.sequence - other.sequence)
    const needs = inOrder.map(({ sequence, include }) => ({ sequence, include }))
    const reading: Promise<void> = this.#options.read(needs).then(
      (runs) => {
        this.#chars -= chars
        this.#hand(runs, inOrder, reading)
      },
      (error: unknown) => {
        this.#chars -= chars
        this.#hand([], inOrder, reading)
        throw error
      },
    )
    for (const item of ahead) item.reading = reading
    reading.catch(() => {})
    return reading
  }

  /** How many of these can be read ahead. Entries with long texts need room; an attempt in progress is always read. */
  #aheadMax(items: readonly QueuedDelivery[]): number {
    const least = items[0]?.state === 'busy' ? 1 : 0
    const room = charsMax / 2 - this.#chars
    const length = this.#lengthOf(items)
    if (room <= 0) return least
    return length === 0 ? items.length : Math.max(least, Math.min(Math.floor(room / length), longAheadMax))
  }

  /** The expected characters of long texts in one of these, which belong to one subscription; 0 without long texts. */
  #lengthOf(items: readonly QueuedDelivery[]): number {
    const long = items.find(isLong)
    return long ? (this.#lengths.get(long.subscription) ?? lengthUnknown) : 0
  }

  /**
   * Hands out the runs that were read; both lists are in rising order. Skips deliveries that were released meanwhile.
   */
  #hand(runs: readonly DeliverySource[], items: readonly QueuedDelivery[], reading: Promise<void>): void {
    this.#learn(runs, items)
    let at = 0
    for (const item of items) {
      while (at < runs.length && runs[at]!.sequence < item.sequence) at += 1
      const run = runs[at]
      if (item.reading !== reading) continue
      item.reading = undefined
      if (run?.sequence === item.sequence) item.source = this.#keep(run, 1)
    }
  }

  /** Remembers the length of a subscription's entries as an estimate for its next ones. */
  #learn(runs: readonly DeliverySource[], [first]: readonly QueuedDelivery[]): void {
    const chars = runs.reduce((sum, run) => sum + charsOf(run), 0)
    if (!first || chars === 0) return
    if (this.#lengths.size >= lengthsMax) this.#lengths.clear()
    this.#lengths.set(first.subscription, chars / runs.length)
  }

  #keep(run: DeliverySource, uses: number): Source {
    const chars = charsOf(run)
    this.#chars += chars
    return { run, bodies: new Map(), chars, uses }
  }

  #make(run: DeliverySource, include: number): string | Promise<string> {
    const body = payloadOf(run, include, this.#iso)
    return !isRun(run) || run.files === null ? body : this.#options.freshen(body, [run.files], run.endedAt)
  }
}

/** Whether its body includes texts that may be long. */
function isLong(item: QueuedDelivery): boolean {
  return (item.include & (include.finalOutput | include.traceSpans)) !== 0
}

function isRun(source: DeliverySource): source is RunSource {
  return !('paused' in source) && !('alert' in source)
}

function charsOf(run: DeliverySource): number {
  if ('alert' in run) return run.alert.length
  if ('paused' in run) return run.paused.length
  return (run.finalOutput?.length ?? 0) + (run.traceSpans?.length ?? 0)
}

function withoutTexts(run: DeliverySource): DeliverySource {
  if ('alert' in run) return { ...run, alert: '' }
  return 'paused' in run ? { ...run, paused: '' } : { ...run, finalOutput: '', traceSpans: '' }
}

const longAheadMax = 32
const lengthsMax = 10_000
/** Characters of the runs that are kept in memory for their webhooks; others are read from disk again. */
const charsMax = 16_777_216
/** The estimate before any entry was read. It is high, so that few are read at once: they may be very long. */
const lengthUnknown = charsMax / 8
