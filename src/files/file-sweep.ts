import type { Clock, Timer } from '../domain/clock.ts'
import type { Store } from '../store/store.ts'
import type { FileStorage } from './storage.ts'

export type FileSweepOptions = {
  store: Pick<Store, 'listGoneFiles' | 'forgetGoneFiles' | 'getExecution' | 'findJob'>
  storage: Pick<FileStorage, 'removeFolder' | 'folders'>
  /** Called for each folder that was deleted. */
  onDeleted(folder: string): void
  clock: Clock
  /** Whether this process does it: one of several is enough. */
  isLeader(): boolean
  /** Called when a round failed. The next round tries again. */
  onFailure(error: unknown): void
}

/**
 * Deletes the stored files of runs whose log entries are gone, once a minute. Once an hour, deletes files of runs that
 * were never recorded, because the process died between the upload and the log entry. A file is forgotten only after it
 * was deleted, so an outage of the storage only delays it.
 */
export class FileSweep {
  readonly #options: FileSweepOptions
  #timer: Timer | undefined
  #round: Promise<void> = Promise.resolve()
  #count = 0
  #stopped = false

  constructor(options: FileSweepOptions) {
    this.#options = options
    this.#wait(firstRoundMs)
  }

  /** Prevents further rounds and waits for the current one. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#timer?.cancel()
    await this.#round
  }

  #wait(delayMs: number): void {
    if (this.#stopped) return
    this.#timer = this.#options.clock.setTimer(delayMs, () => {
      this.#round = this.#sweep()
    })
  }

  async #sweep(): Promise<void> {
    if (!this.#options.isLeader()) return this.#wait(roundMs)
    try {
      await this.#deleteGone()
      if (this.#count % roundsPerSearch === 0) await this.#deleteUnrecorded()
      this.#count += 1
    } catch (error) {
      this.#options.onFailure(error)
    }
    this.#wait(roundMs)
  }

  async #deleteGone(): Promise<void> {
    const { store, storage, onDeleted } = this.#options
    while (!this.#stopped) {
      const folders = await store.listGoneFiles(foldersMax)
      for (const folder of folders) await storage.removeFolder(folder)
      if (folders.length > 0) await store.forgetGoneFiles(folders)
      for (const folder of folders) onDeleted(folder)
      if (folders.length < foldersMax) return
    }
  }

  async #deleteUnrecorded(): Promise<void> {
    const { store, storage, clock, onDeleted } = this.#options
    const before = clock.now() - unrecordedMs
    for await (const folder of storage.folders()) {
      if (this.#stopped) return
      const executionId = folder.slice(folder.lastIndexOf('/') + 1)
      const startedAt = timeOf(executionId)
      if (startedAt === undefined || startedAt > before) continue
      const isKnown = (await store.findJob(executionId)) ?? (await store.getExecution(executionId))
      if (isKnown) continue
      await storage.removeFolder(folder)
      onDeleted(folder)
    }
  }
}

/** The creation time contained in an execution id (UUID version 7); undefined for other ids. */
function timeOf(executionId: string): number | undefined {
  if (!/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}$/.test(executionId)) return undefined
  return Number.parseInt(executionId.slice(0, 8) + executionId.slice(9, 13), 16)
}

const firstRoundMs = 5_000
const roundMs = 60_000
const roundsPerSearch = 60
/** Folders deleted per batch. */
const foldersMax = 100
/**
 * Longer than the longest possible run (seven days, by the ranges of the settings). Younger runs may still be recorded.
 */
const unrecordedMs = 8 * 86_400_000
