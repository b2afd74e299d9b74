import { type Debounced, type DebounceStart, joinMsMin } from '../../domain/run/debounce.ts'

/** The debounced jobs of one process. They are in memory, because only one process uses a data directory. */
export class LocalDebounces {
  readonly #byKey = new Map<string, { executionId: string; firstAt: number; dueAt: number }>()
  readonly #keys = new Map<string, string>()

  readonly joinDebounce = async (start: DebounceStart): Promise<Debounced> => {
    const { workflowId, key, executionId, quietMs, maxMs, now } = start
    const name = `${workflowId} ${key}`
    const found = this.#byKey.get(name)
    if (found) {
      const dueAt = Math.min(now + quietMs, found.firstAt + maxMs)
      if (found.dueAt > now && dueAt - now >= Math.min(quietMs, joinMsMin)) {
        found.dueAt = dueAt
        return { executionId: found.executionId, dueInMs: dueAt - now }
      }
      this.#keys.delete(found.executionId)
    }
    const dueInMs = Math.min(quietMs, maxMs)
    this.#byKey.set(name, { executionId, firstAt: now, dueAt: now + dueInMs })
    this.#keys.set(executionId, name)
    return { executionId, dueInMs }
  }

  readonly endDebounce = async (executionId: string, now: number, isForced = false): Promise<number> => {
    const name = this.#keys.get(executionId)
    const found = name === undefined ? undefined : this.#byKey.get(name)
    if (name === undefined || !found) return 0
    if (found.dueAt > now && !isForced) return found.dueAt - now
    this.#byKey.delete(name)
    this.#keys.delete(executionId)
    return 0
  }
}
