// Long because the states of the writer belong together.
import type { Firing } from '../domain/alert/evaluation.ts'
import type { Clock, Timer } from '../domain/clock.ts'
import { AppError } from '../domain/errors.ts'
import type { LogSequence } from '../domain/ids.ts'
import type { Refusal, RequestClaim } from '../domain/run/claim.ts'
import type { LogRow, RunRecord, RunWebhooks } from '../domain/run/log.ts'
import { WorkLost } from '../domain/run/work-lost.ts'
import { type AlertWrite, type ChatWrite, type JobWrite, logWrite, type Write } from '../domain/run/write.ts'
import { SliceQueue } from '../domain/slice-queue.ts'
import type { InSlices } from '../domain/slices.ts'
import type { PauseEvent } from '../domain/webhook/run-event.ts'
import type { Store } from '../store/store.ts'
import { createFold, type RecordTexts } from './batch.ts'
import { isLarge, textsInSlices } from './large-record.ts'
import { type QueuedWrite, WriteQueue } from './write-queue.ts'

export type LogWriterOptions = {
  store: Pick<Store, 'append' | 'probe'>
  clock: Clock
  /** Writes large records as text. */
  inSlices?: InSlices
  /** Starts after `store.lastSequence()`. */
  sequence: LogSequence
  /** Runs that may wait for the disk; beyond that `append` rejects with `OVERLOADED`. */
  rowsWaitingMax: number
  /** Characters of text that may wait. */
  charsWaitingMax?: number
  /** Encrypts an output that the log must not show, so that the caller of an asynchronous run can fetch it. */
  sealOutput?(text: string, executionId: string): Uint8Array
  /** Called when the health changes. */
  onHealth(healthy: boolean, reason: string): void
  /** Called after each attempt to commit a group. `runs`: how many of its rows are log entries. */
  onCommit?(rows: number, tookMs: number, succeeded: boolean, runs: number): void
  /** Called for each run with pending webhook deliveries when it is on disk. */
  onPendingDeliveries?(row: LogRow): void
  /** The same for pause events. */
  onPauseEvent?(event: PauseEvent): void
  /** The same for alerts that fired. */
  onFirings?(firings: readonly Firing[]): void
}

/**
 * Writes ended runs to the store, many in one commit. While one group is being committed the next one gathers, and it
 * is sent once the callers of the first have their responses. No timer is involved: a single run waits for one turn of
 * the event loop.
 *
 * Healthy → unhealthy when a commit fails because of the storage. Everything that waits is rejected, and so is
 * everything new: the caller of a run that could not be recorded must get an error, and must never get a success later.
 * Then the writer asks the store several times a second whether a commit works; the first yes makes it healthy again.
 * Any other error is caused by a single row: the group is written again row by row, and only the bad rows are rejected.
 */
export class LogWriter {
  readonly #options: LogWriterOptions
  readonly #charsWaitingMax: number
  readonly #fold = createFold()
  readonly #queue = new WriteQueue()
  readonly #inSlices: InSlices
  /** Large records that are being written as text. */
  #largeUnderWay = 0
  /** Rows of the group that is being committed. */
  #rowsUnderWay = 0
  #underWay: Promise<void> | undefined
  #unhealthy: AppError | undefined
  #probe: Timer | undefined
  #stopped = false

  constructor(options: LogWriterOptions) {
    this.#options = options
    this.#inSlices = options.inSlices ?? new SliceQueue(options.clock).run
    this.#charsWaitingMax = options.charsWaitingMax ?? charsWaitingMaxDefault
  }

  get healthy(): boolean {
    return this.#unhealthy === undefined
  }

  /** Throws STORAGE_UNAVAILABLE when runs cannot be recorded. */
  assertHealthy(): void {
    if (this.healthy) return
    const message = 'Runs cannot be recorded at the moment, so none is started. Try again soon.'
    throw new AppError('STORAGE_UNAVAILABLE', message, { retryAfterS: 1 })
  }

  /** Runs that are not on disk yet. */
  get rowsWaiting(): number {
    return this.#largeUnderWay + this.#queue.length + this.#rowsUnderWay
  }

  /**
   * Resolves when the entry is on disk. Rejects with `STORAGE_UNAVAILABLE`, `OVERLOADED` or `WorkLost`, and then the
   * run is not recorded; with anything else for a bug.
   */
  append(record: RunRecord, claim?: RequestClaim, webhooks?: RunWebhooks): Promise<{ sequence: number }> {
    const refusal = this.#refusal()
    if (refusal) return Promise.reject(refusal)
    if (!isLarge(record)) return this.#append(record, claim, webhooks)
    return this.#appendLarge(record, claim, webhooks)
  }

  async #appendLarge(
    record: RunRecord,
    claim: RequestClaim | undefined,
    webhooks: RunWebhooks | undefined,
  ): Promise<{ sequence: number }> {
    this.#largeUnderWay += 1
    try {
      const texts = await this.#inSlices(textsInSlices(record))
      // A stop waits for the records that it finds.
      const late = this.#unhealthy && this.#refusal()
      if (late) throw late
      // Not awaited: from here on it counts as one that waits.
      return this.#append(record, claim, webhooks, texts)
    } finally {
      this.#largeUnderWay -= 1
    }
  }

  #append(
    record: RunRecord,
    claim: RequestClaim | undefined,
    webhooks: RunWebhooks | undefined,
    texts?: RecordTexts,
  ): Promise<{ sequence: number }> {
    return new Promise((resolve, reject) => {
      // An error of the fold rejects the promise, too.
      const row = this.#fold(record, 0, texts)
      if (webhooks) row.webhooks = webhooks
      const acknowledge = (refusal?: Refusal) => {
        // Only an entry of a job that another process has is refused.
        if (refusal) return reject(new WorkLost())
        resolve(row)
        if (webhooks) this.#options.onPendingDeliveries?.(row)
      }
      const { rawOutput, executionId } = row
      const output = rawOutput === null ? null : (this.#options.sealOutput?.(rawOutput, executionId) ?? null)
      // The store gets the sealed output and never the text.
      row.rawOutput = null
      const job = row.createdAt === null ? undefined : this.#queue.removeJob(executionId)
      const write = logWrite(row, output, { claim, isUnwritten: job !== undefined })
      if (!job) return this.#enqueue(write, acknowledge, reject)
      this.#enqueue(
        write,
        () => {
          job.resolve(undefined)
          acknowledge()
        },
        (error) => {
          job.reject(error)
          reject(error)
        },
      )
    })
  }

  /**
   * The same for writes of jobs, chats and alerts. Resolves with a refusal when the claim was refused, another process
   * has the job, or an evaluation is outdated.
   */
  write(write: JobWrite | ChatWrite | AlertWrite): Promise<Refusal | undefined> {
    const refusal = this.#refusal()
    if (refusal) return Promise.reject(refusal)
    const event = 'event' in write ? write.event : undefined
    return new Promise((resolve, reject) => {
      if (write.kind === 'alerts') return this.#enqueue(write, this.#firingsThen(write, resolve), reject)
      if (!event) return this.#enqueue(write, resolve, reject)
      const acknowledge = (refused?: Refusal) => {
        resolve(refused)
        if (!refused) this.#options.onPauseEvent?.(event)
      }
      this.#enqueue(write, acknowledge, reject)
    })
  }

  #firingsThen({ evaluation }: AlertWrite, resolve: (refused?: Refusal) => void) {
    return (refused?: Refusal) => {
      resolve(refused)
      if (!refused) this.#options.onFirings?.(evaluation.firings)
    }
  }

  /** Resolves when everything that waits now is on disk or rejected. */
  async flush(): Promise<void> {
    while (this.rowsWaiting > 0) {
      this.#dispatch()
      await (this.#underWay ?? new Promise((resolve) => setImmediate(resolve)))
    }
  }

  /** Refuses new writes, and commits those that wait. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#probe?.cancel()
    await this.flush()
  }

  #refusal(): AppError | undefined {
    if (this.#unhealthy) return unavailable(this.#unhealthy.message, this.#unhealthy.retryAfterS)
    if (this.#stopped) return unavailable('The service is stopping')
    if (this.rowsWaiting < this.#options.rowsWaitingMax && this.#queue.chars < this.#charsWaitingMax) return undefined
    return new AppError('OVERLOADED', `${this.rowsWaiting} finished runs wait for the disk. Try again in a moment.`, {
      retryAfterS: 1,
    })
  }

  #enqueue(write: Write, resolve: QueuedWrite['resolve'], reject: QueuedWrite['reject']): void {
    this.#queue.add(write, resolve, reject)
    this.#dispatchSoon()
  }

  /** Waits for the runs that end in the same turn of the loop, so that the first of many does not go alone. */
  #dispatchSoon(): void {
    if (this.#underWay || this.#queue.length > 1) return
    setImmediate(() => this.#dispatch())
  }

  #dispatch(): void {
    if (this.#underWay || this.#queue.length === 0) return
    const group = this.#queue.takeGroup()
    // Sequences rise in the order of the commits.
    for (const { write } of group) {
      if (write.kind === 'log') write.row.sequence = this.#options.sequence.next()
      else if ('event' in write && write.event) write.event.sequence = this.#options.sequence.next()
      else if (write.kind === 'alerts') {
        for (const firing of write.evaluation.firings) firing.sequence = this.#options.sequence.next()
      }
    }
    this.#rowsUnderWay = group.length
    this.#underWay = this.#write(group).finally(() => {
      this.#rowsUnderWay = 0
      this.#underWay = undefined
      // Not at once: waking the other thread may cost this one its processor, and callers wait here for their
      // responses.
      if (this.#queue.length > 0) setImmediate(() => this.#dispatch())
    })
  }

  /** Settles every entry of the group. Rejects only for a bug in a callback. */
  async #write(group: QueuedWrite[]): Promise<void> {
    const startedAt = this.#options.clock.monotonic()
    let refusals: readonly Refusal[] | undefined
    try {
      refusals = await this.#options.store.append(group.map((entry) => entry.write))
    } catch (error) {
      this.#options.onCommit?.(group.length, this.#options.clock.monotonic() - startedAt, false, 0)
      if (isStorageUnavailable(error)) return this.#fail(error, group)
      if (group.length === 1) return this.#reject(group[0]!, error)
      return await this.#writeOneByOne(group)
    }
    this.#options.onCommit?.(group.length, this.#options.clock.monotonic() - startedAt, true, runsIn(group))
    if (refusals) this.#acknowledgeEach(group, refusals)
    else for (const entry of group) this.#acknowledge(entry)
  }

  async #writeOneByOne(group: QueuedWrite[]): Promise<void> {
    for (const [index, entry] of group.entries()) {
      await this.#write([entry])
      // The storage failed meanwhile: the rest of the group cannot be written either.
      if (this.#unhealthy) return this.#fail(this.#unhealthy, group.slice(index + 1))
    }
  }

  #acknowledgeEach(group: readonly QueuedWrite[], refusals: readonly Refusal[]): void {
    const refused = new Map(refusals.map((refusal) => [refusal.index, refusal]))
    for (const [index, entry] of group.entries()) this.#acknowledge(entry, refused.get(index))
  }

  #acknowledge(entry: QueuedWrite, refusal?: Refusal): void {
    this.#queue.release(entry)
    entry.resolve(refusal)
  }

  #reject(entry: QueuedWrite, error: unknown): void {
    this.#queue.release(entry)
    entry.reject(error)
  }

  #fail(error: AppError, group: QueuedWrite[]): void {
    const lost = [...group, ...this.#queue.takeAll()]
    for (const entry of lost) this.#reject(entry, unavailable(error.message, error.retryAfterS))
    if (this.#unhealthy) return
    this.#unhealthy = error
    this.#options.onHealth(false, error.message)
    this.#probeLater()
  }

  #probeLater(): void {
    if (this.#stopped) return
    this.#probe = this.#options.clock.setTimer(probeMs, () => void this.#tryAgain())
  }

  async #tryAgain(): Promise<void> {
    const works = await this.#options.store.probe().catch(() => false)
    if (!works) return this.#probeLater()
    this.#unhealthy = undefined
    this.#options.onHealth(true, 'The database accepts commits again')
  }
}

function runsIn(group: readonly QueuedWrite[]): number {
  let runs = 0
  for (const { write } of group) if (write.kind === 'log') runs += 1
  return runs
}

const charsWaitingMaxDefault = 67_108_864
const probeMs = 250

function isStorageUnavailable(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'STORAGE_UNAVAILABLE'
}

function unavailable(reason: string, retryAfterS = 1): AppError {
  return new AppError('STORAGE_UNAVAILABLE', `The run could not be recorded. ${reason}`, { retryAfterS })
}
