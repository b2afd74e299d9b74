import { createContext, useContext, useSyncExternalStore } from 'react'

/**
 * The line under the pointer: at most one. Events alone would leave several, because none reports that the pointer left
 * a line when something appeared on top of it.
 */
export class PointedLine {
  #id: string | undefined
  readonly #watchers = new Set<() => void>()

  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  is(id: string): boolean {
    return this.#id === id
  }

  enter(id: string | undefined): void {
    if (id === this.#id) return
    this.#id = id
    for (const watcher of [...this.#watchers]) watcher()
  }

  leave(id: string): void {
    if (this.#id === id) this.enter(undefined)
  }
}

export const PointedLineContext = createContext<PointedLine | undefined>(undefined)

/** Whether a line is under the pointer, and the place to report it. */
export function usePointed(id: string): [boolean, PointedLine] {
  const pointed = useContext(PointedLineContext)
  if (!pointed) throw new Error('usePointed must be used inside a canvas')
  return [useSyncExternalStore(pointed.watch, () => pointed.is(id)), pointed]
}
