import type { LogRow } from '../domain/run/log.ts'
import { createIsoTime } from '../domain/text/iso-time.ts'
import type { DeliverySource } from '../domain/webhook/delivery.ts'
import { include } from '../domain/webhook/subscription.ts'
import type { DeliveryNeed } from '../store/store.ts'
import type { Item, Source } from './lane.ts'
import { payloadOf } from './payload.ts'

export type BodiesOptions = {
  /** What bodies are made of, from the disk, in rising order of sequence. */
  read(needs: readonly DeliveryNeed[]): Promise<DeliverySource[]>
  /** Gives the file objects in a text of JSON URLs signed at a time, the same whenever it is asked. */
  freshen(text: string, runFiles: readonly string[], at: number): string | Promise<string>
}

export type Message = { executionId: string; body: string }

/**
 * Makes the bodies of deliveries: of runs that have just ended from what is in memory, else from the log.
 */
export class Bodies {
  readonly #options: BodiesOptions
  readonly #iso = createIsoTime()
  /** Characters of all sources in memory, and of those that are being read about as many as they will have. */
  #chars = 0
  /** Characters of one entry, as those that were read last of a subscription had. */
  readonly #lengths = new Map<number, number>()

  constructor(options: BodiesOptions) {
    this.#options = options
  }

  /** What so many deliveries of a run that is in memory are made of; undefined when there is no room for it. */
  sourceOf(row: LogRow, uses: number): Source | undefined {
    const chars = row.finalOutput.length + row.traceSpans.length
    if (!row.webhooks || this.#chars + chars > charsMax) return undefined
    const { sequence, workflowId, executionId, level, trigger, startedAt, endedAt, durationMs } = row
    const run: DeliverySource = {
      ...{ sequence, workflowId, executionId, level, trigger, startedAt, endedAt, durationMs },
      cost: row.cost,
      finalOutput: row.finalOutput,
      traceSpans: row.traceSpans,
      files: row.files?.text ?? null,
      facts: row.webhooks.facts,
    }
    return this.#keep(run, uses)
  }

  /** Characters of the long texts in a delivery's body, or about as many as it will have. */
  charsOf(item: Item): number {
    if (!isLong(item)) return 0
    return item.source?.chars ?? this.#lengthOf([item])
  }

  /** A delivery needs what it is made of no more. */
  release(item: Item): void {
    this.#release(item.source)
    item.source = undefined
    item.reading = undefined
  }

  /** The same of a run for one delivery that is not in memory at all. */
  releaseOne(source: Source | undefined): void {
    this.#release(source)
  }

  #release(source: Source | undefined): void {
    if (!source) return
    source.uses -= 1
    if (source.uses === 0) this.#chars -= source.chars
  }

  /** Undefined when the log entry is gone. Rejects when it cannot be read now. */
  async of(item: Item): Promise<Message | undefined> {
    if (!item.source) await (item.reading ?? this.readAhead([item]))
    if (!item.source) return undefined
    const { source, include } = item
    const { executionId } = source.run
    const making = source.bodies.get(include) ?? this.#make(source.run, include)
    source.bodies.set(include, making)
    try {
      const body = typeof making === 'string' ? making : await making
      // Of the last delivery the body is all that is needed, for as long as its receiver takes.
      if (source.uses === 1) source.run = { ...source.run, finalOutput: '', traceSpans: '' }
      return { executionId, body }
    } catch (error) {
      source.bodies.delete(include)
      throw error
    }
  }

  /**
   * Looks into the log for several at once: a look costs as much as what it finds. Rejects when that cannot be read now, and
   * then nothing is being read of them any more; who does not wait for it need not hear of that.
   */
  readAhead(items: readonly Item[]): Promise<void> {
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

  /** Of entries with long texts as many as there is room for, and what is being attempted at any rate. */
  #aheadMax(items: readonly Item[]): number {
    const least = items[0]?.state === 'busy' ? 1 : 0
    const room = charsMax / 2 - this.#chars
    const length = this.#lengthOf(items)
    if (room <= 0) return least
    return length === 0 ? items.length : Math.max(least, Math.min(Math.floor(room / length), longAheadMax))
  }

  /** Characters of long texts that one of these will have, all of one subscription; 0 when none is asked for. */
  #lengthOf(items: readonly Item[]): number {
    const long = items.find(isLong)
    return long ? (this.#lengths.get(long.subscription) ?? lengthUnknown) : 0
  }

  /** Gives each what was read of it, both in rising order. One that was released meanwhile waits for nothing. */
  #hand(runs: readonly DeliverySource[], items: readonly Item[], reading: Promise<void>): void {
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

  /** Entries of one subscription, which are like those that come next. */
  #learn(runs: readonly DeliverySource[], [first]: readonly Item[]): void {
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
    return run.files === null ? body : this.#options.freshen(body, [run.files], run.endedAt)
  }
}

/** Whether its body has what may be long. */
function isLong(item: Item): boolean {
  return (item.include & (include.finalOutput | include.traceSpans)) !== 0
}

function charsOf({ finalOutput, traceSpans }: DeliverySource): number {
  return (finalOutput?.length ?? 0) + (traceSpans?.length ?? 0)
}

const longAheadMax = 32
const lengthsMax = 10_000
/** Characters of runs in memory whose webhooks are under way; the others are read again. */
const charsMax = 16_777_216
/** Of an entry of whose like none was read yet: few of them, because they may be very long. */
const lengthUnknown = charsMax / 8
