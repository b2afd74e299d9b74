import type { DeliverySource } from '../domain/delivery.ts'
import type { LogRow } from '../domain/log.ts'
import type { DeliveryNeed } from '../store/store.ts'
import type { Item, Source } from './lane.ts'
import { payloadOf } from './payload.ts'

export type BodiesOptions = {
  /** What bodies are made of, from the disk. */
  read(needs: readonly DeliveryNeed[]): Promise<DeliverySource[]>
  /** Gives the file objects in a text of JSON URLs signed at a time, the same whenever it is asked. */
  freshen(text: string, runFiles: readonly string[], at: number): string | Promise<string>
}

export type Message = { executionId: string; body: string }

/**
 * Makes the bodies of deliveries: of runs that have just ended from what is in memory, else from the log. While one look
 * into the log is under way those that come gather for the next.
 */
export class Bodies {
  readonly #options: BodiesOptions
  #wanted: Wanted[] = []
  #isReading = false
  /** Characters of all sources in memory. */
  #chars = 0

  constructor(options: BodiesOptions) {
    this.#options = options
  }

  /** What the deliveries of a run that is in memory are made of; undefined when there is no room for it. */
  sourceOf(row: LogRow): Source | undefined {
    const chars = row.finalOutput.length + row.traceSpans.length
    if (!row.webhooks || row.webhooks.deliveries.length === 0 || this.#chars + chars > charsMax) return undefined
    this.#chars += chars
    const { sequence, workflowId, executionId, level, trigger, startedAt, endedAt, durationMs } = row
    const run: DeliverySource = {
      ...{ sequence, workflowId, executionId, level, trigger, startedAt, endedAt, durationMs },
      cost: row.cost,
      finalOutput: row.finalOutput,
      traceSpans: row.traceSpans,
      files: row.files?.text ?? null,
      facts: row.webhooks.facts,
    }
    return { run, bodies: new Map(), chars, uses: row.webhooks.deliveries.length }
  }

  /** One of its deliveries needs it no more. */
  release(source: Source | undefined): void {
    if (!source) return
    source.uses -= 1
    if (source.uses === 0) this.#chars -= source.chars
  }

  /** Undefined when the log entry is gone. Rejects when it cannot be read now. */
  of({
    sequence,
    include,
    source,
  }: Pick<Item, 'sequence' | 'include' | 'source'>): Message | Promise<Message | undefined> {
    if (!source) return this.#read(sequence, include)
    const { executionId } = source.run
    const body = source.bodies.get(include) ?? this.#make(source.run, include)
    source.bodies.set(include, body)
    return typeof body === 'string' ? { executionId, body } : body.then((text) => ({ executionId, body: text }))
  }

  async #read(sequence: number, include: number): Promise<Message | undefined> {
    const run = await new Promise<DeliverySource | undefined>((resolve, reject) => {
      this.#wanted.push({ sequence, include, resolve, reject })
      if (!this.#isReading) void this.#readWanted()
    })
    return run && { executionId: run.executionId, body: await this.#make(run, include) }
  }

  /** Never rejects: whoever waits hears of a failure. */
  async #readWanted(): Promise<void> {
    this.#isReading = true
    while (this.#wanted.length > 0) {
      const group = this.#wanted.splice(0, readAtOnce)
      try {
        const runs = await this.#options.read(group.map(({ sequence, include }) => ({ sequence, include })))
        // Several deliveries of one run may want different parts of it: an answer for each, in rising order.
        const inOrder = group.toSorted((one, other) => one.sequence - other.sequence)
        let at = 0
        for (const { sequence, resolve } of inOrder) resolve(runs[at]?.sequence === sequence ? runs[at++] : undefined)
      } catch (error) {
        for (const { reject } of group) reject(error)
      }
    }
    this.#isReading = false
  }

  #make(run: DeliverySource, include: number): string | Promise<string> {
    const body = payloadOf(run, include)
    return run.files === null ? body : this.#options.freshen(body, [run.files], run.endedAt)
  }
}

type Wanted = {
  sequence: number
  include: number
  resolve(run: DeliverySource | undefined): void
  reject(error: unknown): void
}

/** Characters of runs in memory whose webhooks are under way; the others are read again. */
const charsMax = 16_777_216
const readAtOnce = 64
