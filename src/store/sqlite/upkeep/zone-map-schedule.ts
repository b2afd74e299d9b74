import type { Write } from '../../../domain/run/write.ts'
import { zoneRows } from '../logs/zone-maps.ts'

export type ZoningOptions = {
  /** One step, for a workspace or for all; false when there is nothing more to do. */
  summarise(workspaceId: string | undefined): Promise<boolean>
  /** Receives the bytes that a step has added to the WAL. */
  onWritten(walBytes: number): void
}

/**
 * Summarises the rows of a workspace in a zone map whenever a full zone has been recorded, and all remaining rows once
 * after the start. It counts in the service's thread; the writer thread carries out the steps, between the groups it
 * commits.
 */
export class ZoneMapSchedule {
  readonly #options: ZoningOptions
  /** Rows since the last zone, by workspace. */
  readonly #counts = new Map<string, number>()
  /** Workspaces to summarise; undefined stands for all. */
  readonly #due = new Set<string | undefined>()
  #working = false

  constructor(options: ZoningOptions) {
    this.#options = options
  }

  start(): void {
    this.#due.add(undefined)
    void this.#work()
  }

  /** Counts the log rows of a committed group. */
  count(writes: readonly Write[]): void {
    for (const write of writes) {
      if (write.kind !== 'log') continue
      const { workspaceId } = write.row
      const count = (this.#counts.get(workspaceId) ?? 0) + 1
      this.#counts.set(workspaceId, count % zoneRows)
      if (count < zoneRows) continue
      this.#due.add(workspaceId)
      void this.#work()
    }
  }

  /** Never rejects: a step that failed is repeated the next time. */
  async #work(): Promise<void> {
    if (this.#working) return
    this.#working = true
    try {
      for (const workspaceId of this.#due) {
        while (await this.#options.summarise(workspaceId)) this.#options.onWritten(zoneWalBytes)
        this.#due.delete(workspaceId)
      }
    } catch {
      this.#due.clear()
    } finally {
      this.#working = false
    }
  }
}

/** Measured and rounded up: the indexed values of a zone are on separate pages. */
const zoneWalBytes = 98_304
