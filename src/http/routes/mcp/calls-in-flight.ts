import { FairShare } from '../../../domain/fair-share.ts'
import type { Elicited } from './elicitation.ts'
import type { RpcId } from './json-rpc.ts'

/** Who sent a request: its ID is unique in a session only. */
export type CallKey = { keyId: string; session: string; id: RpcId }

/** A request in progress. */
export type CallInFlight = {
  id: string
  /** Aborts when the client cancels the call. */
  signal: AbortSignal
  /**
   * Resolves with the answer of the client to a request of this call. Undefined when too many wait for an answer, in
   * this workspace or in all.
   */
  answerTo(question: RpcId): Promise<Elicited> | undefined
}

type Known = {
  keyId: string
  workspaceId: string
  controller: AbortController
  questions: Map<RpcId, (answer: Elicited) => void>
}

/**
 * The requests of clients in progress, so that later requests can refer to them: a cancellation, or an answer to a
 * question of the server. A session is only a name that keeps apart clients with the same key; nothing is stored for
 * it.
 */
export class CallsInFlight {
  readonly #calls = new Map<string, Known>()
  /** The questions that wait for an answer, by workspace. */
  readonly #waiting: FairShare

  constructor(shareFactor: number) {
    this.#waiting = new FairShare({ total: questionsMax, factor: shareFactor })
  }

  /** `work`: may use what it gets until it has ended. */
  async run<Result>(
    { keyId, session, id: requestId, workspaceId }: CallKey & { workspaceId: string },
    work: (call: CallInFlight) => Promise<Result>,
  ): Promise<Result> {
    const id = callIdOf({ keyId, session, id: requestId })
    const known: Known = { keyId, workspaceId, controller: new AbortController(), questions: new Map() }
    this.#calls.set(id, known)
    const answerTo = (question: RpcId) => {
      if (!this.#waiting.hasRoom(workspaceId)) return undefined
      this.#waiting.take(workspaceId)
      const { promise, resolve } = Promise.withResolvers<Elicited>()
      known.questions.set(question, resolve)
      return promise
    }
    try {
      return await work({ id, signal: known.controller.signal, answerTo })
    } finally {
      for (const _ of known.questions) this.#waiting.release(workspaceId)
      if (this.#calls.get(id) === known) this.#calls.delete(id)
    }
  }

  has(id: string): boolean {
    return this.#calls.has(id)
  }

  /** False when this process has no such call. */
  cancel(id: string): boolean {
    const call = this.#calls.get(id)
    call?.controller.abort()
    return call !== undefined
  }

  /** False when this process has no such call of the key. An answer to a question that has been answered is ignored. */
  answer(id: string, { keyId, question, given }: { keyId: string; question: RpcId; given: Elicited }): boolean {
    const call = this.#calls.get(id)
    if (call?.keyId !== keyId) return false
    call.questions.get(question)?.(given)
    if (call.questions.delete(question)) this.#waiting.release(call.workspaceId)
    return true
  }
}

/** Limited, because each waiting call polls its pause. Workspaces share them. */
export const questionsMax = 500

/** The name of a call. It is short even if the client sends long IDs. */
export function callIdOf({ keyId, session, id }: CallKey): string {
  return new Bun.CryptoHasher('sha256')
    .update(JSON.stringify([keyId, session, id]))
    .digest('base64url')
    .slice(0, 22)
}
