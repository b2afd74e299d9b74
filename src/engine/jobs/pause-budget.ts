import type { Clock } from '../../domain/clock.ts'
import { BlockError } from '../block.ts'

export type PauseBudgetOptions = {
  store: {
    /** Counts the open pauses of a workspace. Stops counting at `limit`. */
    countPauses(workspaceId: string, limit: number): Promise<number>
  }
  /** The most open pauses of one workspace. */
  max: number
  clock: Pick<Clock, 'now'>
}

/**
 * `left`: pauses that may open before the store counts again. `fullUntil`: no pause may open before this time, in epoch
 * milliseconds.
 */
type Count = { left: number; fullUntil: number }

/**
 * Limits the open pauses of a workspace, because each takes space on the disk for up to 400 days. After a count, half
 * of the remaining pauses may open before the store counts again, so blocks rarely wait for it. Processes that open
 * pauses at the same time may exceed the limit a little.
 */
export class PauseBudget {
  readonly #options: PauseBudgetOptions
  readonly #counts = new Map<string, Count>()
  readonly #counting = new Map<string, Promise<void>>()

  constructor(options: PauseBudgetOptions) {
    this.#options = options
  }

  /** Call this before a block pauses. Throws `TOO_MANY_PAUSES`. */
  async take(workspaceId: string): Promise<void> {
    const { clock, max } = this.#options
    for (;;) {
      const known = this.#counts.get(workspaceId)
      if (known && known.left > 0) {
        known.left -= 1
        return
      }
      if (known && clock.now() < known.fullUntil) throw new BlockError('TOO_MANY_PAUSES', tooMany(max))
      await this.#count(workspaceId)
    }
  }

  /** Counts once for all blocks that wait for the count. */
  async #count(workspaceId: string): Promise<void> {
    const counting = this.#counting.get(workspaceId) ?? this.#read(workspaceId)
    this.#counting.set(workspaceId, counting)
    try {
      await counting
    } finally {
      this.#counting.delete(workspaceId)
    }
  }

  async #read(workspaceId: string): Promise<void> {
    const { store, max, clock } = this.#options
    const free = max - (await store.countPauses(workspaceId, max))
    this.#counts.set(workspaceId, { left: Math.ceil(free / 2), fullUntil: free > 0 ? 0 : clock.now() + recountMs })
  }
}

/** How long the pauses of a full workspace are not counted again. */
const recountMs = 1_000

function tooMany(max: number): string {
  const most = max.toLocaleString('en-US')
  return (
    `The block cannot pause: ${most} blocks of this workspace are paused, the most that MILLRACE_PAUSES_MAX allows. ` +
    'Answer or cancel some of them.'
  )
}
