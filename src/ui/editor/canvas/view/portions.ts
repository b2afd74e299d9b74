import { flushSync } from 'react-dom'

/**
 * Draws blocks that come into view all at once in portions, one per frame, so that the page stays responsive. Without
 * it, fitting 500 blocks into view was one task of half a second.
 *
 * `hold` keeps blocks off the canvas. Once the view has moved, each frame draws the next ones.
 */
export class Portions {
  #held: ReadonlySet<string> = new Set()
  readonly #watchers = new Set<() => void>()

  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  /** The blocks that are not drawn yet. */
  readonly held = (): ReadonlySet<string> => this.#held

  /** Keeps blocks off the canvas for a while, if they are too many for one frame. */
  hold(ids: readonly string[], forMs: number): void {
    const isMoving = this.#held.size > 0
    if (ids.length <= portion && !isMoving) return
    // The canvas must know before the view moves.
    flushSync(() => this.#become(new Set(ids)))
    // Frames pause in a hidden page; the blocks appear when it is shown again.
    const startedAt = performance.now()
    const onFrame = (ids: ReadonlySet<string>) => {
      // A later call holds other blocks and has frames of its own.
      if (this.#held !== ids) return
      const next = performance.now() - startedAt < forMs ? ids : new Set([...ids].slice(portion))
      if (next !== ids) this.#become(next)
      if (next.size > 0) requestAnimationFrame(() => onFrame(next))
    }
    const held = this.#held
    requestAnimationFrame(() => onFrame(held))
  }

  #become(held: ReadonlySet<string>): void {
    this.#held = held
    for (const watcher of [...this.#watchers]) watcher()
  }
}

/** The number of blocks that a frame draws. A small card with its line takes 1 to 2 ms. */
const portion = 16
