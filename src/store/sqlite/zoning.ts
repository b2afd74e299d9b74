import type { LogRow } from '../../domain/log.ts'
import type { Thread } from './thread.ts'
import { zoneRows } from './zones.ts'

/**
 * Has the rows of a workspace summarised whenever a zone's worth of them has been recorded, and all that there are once
 * at the start. It counts in the service's thread, because rows are committed in two; the work is done by the writer's,
 * step by step between the groups that come.
 */
export class Zoning {
  readonly #writer: Pick<Thread, 'summarise'>
  /** Rows since the last zone, by workspace. */
  readonly #counts = new Map<string, number>()
  /** Workspaces to summarise; undefined stands for all. */
  readonly #due = new Set<string | undefined>()
  #working = false

  constructor(writer: Pick<Thread, 'summarise'>) {
    this.#writer = writer
  }

  start(): void {
    this.#due.add(undefined)
    void this.#work()
  }

  /** Counts rows that were committed. */
  count(rows: readonly LogRow[]): void {
    for (const { workspaceId } of rows) {
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
        while (await this.#writer.summarise(workspaceId)) {}
        this.#due.delete(workspaceId)
      }
    } catch {
      this.#due.clear()
    } finally {
      this.#working = false
    }
  }
}
