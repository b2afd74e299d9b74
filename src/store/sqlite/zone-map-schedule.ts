import type { Write } from '../../domain/write.ts'
import { zoneRows } from './zone-maps.ts'

export type ZoningOptions = {
  /** One step, for a workspace or for all; false when there is nothing more to do. */
  summarise(workspaceId: string | undefined): Promise<boolean>
  /** Told what a step has added to the WAL. */
  onWritten(walBytes: number): void
}

/**
 * Has the rows of a workspace summarised whenever a zone's worth of them has been recorded, and all that there are once
 * at the start. It counts in the service's thread, which has the steps made by the writer's, between the groups that come.
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

  /** Counts the log rows of a group that was committed. */
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

  /** Never rejects: what failed is done the next time. */
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

/** By measurement, rounded up: the facets of a zone lie on pages of their own. */
const zoneWalBytes = 98_304
