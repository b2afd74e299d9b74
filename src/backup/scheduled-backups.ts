import type { Clock, Timer } from '../domain/clock.ts'
import { messageOf } from '../domain/errors.ts'
import type { BackupRecord } from './backup-record.ts'

export type ScheduledBackupsOptions = {
  /** Makes a backup and deletes old ones. Rejects when the backup failed or `signal` aborted. */
  make(signal: AbortSignal): Promise<MadeBackup>
  /** The last good backup; undefined when there is none at this address. */
  read(): Promise<BackupRecord | undefined>
  write(record: BackupRecord): Promise<void>
  everyMs: number
  clock: Clock
  onFailure(message: string): void
  /** Called once for each problem, not after every backup. */
  onPruneFailure(message: string): void
}

/** `pruneFailure`: why old backups could not be deleted. */
export type MadeBackup = { bytes: number; pruneFailure?: string }

/** Times in epoch milliseconds. */
export type BackupState = {
  last: BackupRecord | undefined
  /** Why the latest attempt failed; undefined when it succeeded. */
  failure: string | undefined
  /** Why the latest backup could not delete old ones; undefined when it could. */
  pruneFailure: string | undefined
  isRunning: boolean
  succeeded: number
  failed: number
}

/**
 * Makes a backup at an interval, counted from the last good one, also across restarts. After a failure it tries again
 * after a minute, then after twice the time, up to the interval. Backups never overlap.
 */
export class ScheduledBackups {
  readonly #options: ScheduledBackupsOptions
  readonly #stopping = new AbortController()
  #timer: Timer | undefined
  #running: Promise<void> | undefined
  #last: BackupRecord | undefined
  #failure: string | undefined
  #pruneFailure: string | undefined
  #failuresInRow = 0
  #succeeded = 0
  #failed = 0

  constructor(options: ScheduledBackupsOptions) {
    this.#options = options
  }

  get state(): BackupState {
    const isRunning = this.#running !== undefined
    return {
      ...{ last: this.#last, failure: this.#failure, pruneFailure: this.#pruneFailure, isRunning },
      ...{ succeeded: this.#succeeded, failed: this.#failed },
    }
  }

  /** Call this once, when the service is up. */
  async open(): Promise<void> {
    const { read, clock, everyMs } = this.#options
    this.#last = await read().catch(() => undefined)
    const dueAt = this.#last ? this.#last.at + everyMs : 0
    this.#schedule(Math.max(firstDelayMs, Math.min(dueAt - clock.now(), everyMs)))
  }

  /** Ends a backup in progress and starts no more. */
  async stop(): Promise<void> {
    this.#timer?.cancel()
    this.#stopping.abort()
    await this.#running
  }

  #schedule(delayMs: number): void {
    if (this.#stopping.signal.aborted) return
    this.#timer = this.#options.clock.setTimer(delayMs, () => {
      this.#running = this.#run().finally(() => {
        this.#running = undefined
      })
    })
  }

  async #run(): Promise<void> {
    const { make, write, clock, everyMs, onFailure, onPruneFailure } = this.#options
    const startedAt = clock.now()
    try {
      const { bytes, pruneFailure } = await make(this.#stopping.signal)
      this.#last = { at: startedAt, bytes }
      this.#failure = undefined
      this.#failuresInRow = 0
      this.#succeeded += 1
      if (pruneFailure !== undefined && pruneFailure !== this.#pruneFailure) onPruneFailure(pruneFailure)
      this.#pruneFailure = pruneFailure
      // If this fails, the next process makes a backup earlier than necessary.
      await write(this.#last).catch(() => undefined)
      this.#schedule(Math.max(0, startedAt + everyMs - clock.now()))
    } catch (error) {
      if (this.#stopping.signal.aborted) return
      this.#failure = messageOf(error)
      this.#failed += 1
      this.#failuresInRow += 1
      onFailure(this.#failure)
      this.#schedule(Math.min(everyMs, retryMs * 2 ** (this.#failuresInRow - 1)))
    }
  }
}

/** The start of the service has ended by then. */
const firstDelayMs = 10_000
const retryMs = 60_000
