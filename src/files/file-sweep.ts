import type { Clock, Timer } from '../domain/clock.ts'
import type { Store } from '../store/store.ts'
import type { FileStorage } from './storage.ts'

export type FileSweepOptions = {
  store: Pick<Store, 'listGoneFiles' | 'forgetGoneFiles' | 'getExecution' | 'getJob'>
  storage: Pick<FileStorage, 'removeFolder' | 'folders'>
  clock: Clock
  /** Told when a round failed; the next one tries again. */
  onFailure(error: unknown): void
}

/**
 * Deletes what is stored of runs whose log entries are gone, once a minute, beside everything else; and once an hour that
 * of runs that were never recorded, because the process died between the upload and the entry. A file is forgotten only
 * when it is deleted, so a storage that is down means later, not never.
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

  /** Resolves when the round under way has ended; no other one begins. */
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
    const { store, storage } = this.#options
    while (!this.#stopped) {
      const folders = await store.listGoneFiles(foldersMax)
      for (const folder of folders) await storage.removeFolder(folder)
      if (folders.length > 0) await store.forgetGoneFiles(folders)
      if (folders.length < foldersMax) return
    }
  }

  async #deleteUnrecorded(): Promise<void> {
    const { store, storage, clock } = this.#options
    const before = clock.now() - unrecordedMs
    for await (const folder of storage.folders()) {
      if (this.#stopped) return
      const executionId = folder.slice(folder.lastIndexOf('/') + 1)
      const startedAt = timeOf(executionId)
      if (startedAt === undefined || startedAt > before) continue
      const isKnown = (await store.getJob(executionId)) ?? (await store.getExecution(executionId))
      if (!isKnown) await storage.removeFolder(folder)
    }
  }
}

/** When an execution id was made, which it says itself (UUID version 7); undefined for one made elsewhere. */
function timeOf(executionId: string): number | undefined {
  if (!/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}$/.test(executionId)) return undefined
  return Number.parseInt(executionId.slice(0, 8) + executionId.slice(9, 13), 16)
}

const firstRoundMs = 5_000
const roundMs = 60_000
const roundsPerSearch = 60
/** Folders deleted before they are forgotten together. */
const foldersMax = 100
/** Longer than any run may take (seven days, by the ranges of the settings): what is younger may still be recorded. */
const unrecordedMs = 8 * 86_400_000
