import type { RpcId } from './json-rpc.ts'

/** Who sent a request: its ID is unique in a session only. */
export type CallKey = { keyId: string; session: string; id: RpcId }

/**
 * The tool calls in progress, so that a notification of the client can cancel them. A session is only a name that
 * keeps apart clients with the same key; nothing is stored for it.
 */
export class CallsInFlight {
  readonly #calls = new Map<string, AbortController>()

  /** Runs a call with a signal that aborts when the client cancels it. */
  async run<Result>(key: CallKey, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const name = nameOf(key)
    const controller = new AbortController()
    this.#calls.set(name, controller)
    try {
      return await work(controller.signal)
    } finally {
      if (this.#calls.get(name) === controller) this.#calls.delete(name)
    }
  }

  cancel(key: CallKey): void {
    this.#calls.get(nameOf(key))?.abort()
  }
}

function nameOf({ keyId, session, id }: CallKey): string {
  return JSON.stringify([keyId, session, id])
}
