import type { Clock, Timer } from '../../domain/clock.ts'
import { AppError } from '../../domain/errors.ts'
import { textPieces } from '../../domain/text/text-pieces.ts'
import type { MemoryHolder } from '../../engine/run/run-memory.ts'

/** The memory of all runs, which these responses share. */
type Memory = {
  hasRoom(workspaceId: string): boolean
  hold(holder: MemoryHolder, bytes: number): void
  release(holder: MemoryHolder): void
}

export type UnsentResponsesOptions = { memory: Memory; clock: Pick<Clock, 'setTimer'> }

/**
 * Large responses that their callers have not read yet. They count in the memory of all runs: the next large runs of
 * a workspace wait while its callers do not read. What is read from the log counts apart from that, so that readers do
 * not stop runs. A caller that reads nothing for a minute loses the connection.
 */
export class UnsentResponses {
  readonly #options: UnsentResponsesOptions
  #responses = 0
  #turn: Promise<unknown> = Promise.resolve()

  constructor(options: UnsentResponsesOptions) {
    this.#options = options
  }

  /** Counts a response that is being written. Returns a function that ends this. */
  hold(workspaceId: string, bytes: number): () => void {
    const holder = this.#holderOf(workspaceId)
    this.#options.memory.hold(holder, bytes)
    return () => this.#options.memory.release(holder)
  }

  /** The body of a response about a run of the workspace. */
  body(workspaceId: string, text: string): BodyInit {
    return text.length <= largeChars ? text : this.#bodyOf(workspaceId, oneText(text), { bytes: text.length })
  }

  /** The body of a response with what was read from the log of the workspace. */
  logBody(workspaceId: string, text: string): BodyInit {
    return this.body(logOwner(workspaceId), text)
  }

  /** The same for text that is read while it is sent. `onFailure`: reading failed, so the connection breaks. */
  logBodyOf(workspaceId: string, parts: AsyncGenerator<string>, onFailure: (cause: unknown) => void): BodyInit {
    return this.#bodyOf(logOwner(workspaceId), parts, { onFailure })
  }

  /** Does work that reads entries of the log, one after the other: each may have 40 MB. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const working = this.#turn.then(work)
    this.#turn = working.catch(() => undefined)
    return working
  }

  /** Throws OVERLOADED when those who read the log of the workspace leave too much unread. */
  assertLogRoom(workspaceId: string): void {
    if (this.#options.memory.hasRoom(logOwner(workspaceId))) return
    const message =
      'The readers of this workspace have not read the log entries that were sent to them. Try again when they have.'
    throw new AppError('OVERLOADED', message, { retryAfterS: 5 })
  }

  #bodyOf(owner: string, parts: AsyncGenerator<string>, more: Partial<BodyOptions> = {}): BodyInit {
    const options = { ...this.#options, holder: this.#holderOf(owner), bytes: 0, onFailure: () => undefined, ...more }
    // Typed as the body that Bun makes of an iterator.
    return new UnsentBody(parts, options) as unknown as ReadableStream
  }

  #holderOf(owner: string): MemoryHolder {
    this.#responses += 1
    return { executionId: `response ${this.#responses}`, workspaceId: owner }
  }
}

/** `bytes`: of the first part, when it is known. */
type BodyOptions = UnsentResponsesOptions & { holder: MemoryHolder; bytes: number; onFailure(cause: unknown): void }

/** Bun asks an iterator for more when the socket has room, and calls `return` when the caller has left. */
class UnsentBody implements AsyncIterableIterator<string> {
  readonly #options: BodyOptions
  #parts: AsyncGenerator<string> | undefined
  /** The part that is being sent. */
  #pieces: Iterator<string> | undefined
  #silence: Timer | undefined

  constructor(parts: AsyncGenerator<string>, options: BodyOptions) {
    this.#parts = parts
    this.#options = options
    options.memory.hold(options.holder, options.bytes)
    this.#waitForCaller()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<string>> {
    this.#silence?.cancel()
    let piece = this.#pieces?.next()
    while (!piece || piece.done) {
      // Breaks the connection: a normal end would look complete. Bun prints every thrown value except `undefined`.
      if (!this.#parts) throw undefined
      const part = await this.#parts.next().catch((cause: unknown) => this.#cut(cause))
      if (part.done) return this.#ended()
      this.#hold(part.value.length)
      this.#pieces = textPieces(part.value, pieceChars)
      piece = this.#pieces.next()
    }
    this.#waitForCaller()
    return piece as IteratorResult<string>
  }

  async return(): Promise<IteratorResult<string>> {
    return this.#ended()
  }

  #hold(bytes: number): void {
    const { memory, holder } = this.#options
    memory.release(holder)
    if (this.#parts) memory.hold(holder, bytes)
  }

  #waitForCaller(): void {
    if (this.#parts) this.#silence = this.#options.clock.setTimer(silenceMsMax, () => this.#ended())
  }

  #ended(): IteratorResult<string> {
    this.#silence?.cancel()
    void this.#parts?.return(undefined).catch(() => undefined)
    this.#parts = undefined
    this.#pieces = undefined
    this.#options.memory.release(this.#options.holder)
    return { value: undefined, done: true }
  }

  #cut(cause: unknown): never {
    if (this.#parts) this.#options.onFailure(cause)
    this.#ended()
    throw undefined
  }
}

async function* oneText(text: string): AsyncGenerator<string> {
  yield text
}

function logOwner(workspaceId: string): string {
  return `log ${workspaceId}`
}

const largeChars = 1_048_576
const pieceChars = 262_144
const silenceMsMax = 60_000
