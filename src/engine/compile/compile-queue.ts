import { AppError } from '../../domain/errors.ts'
import { FairShare } from '../../domain/fair-share.ts'
import type { SliceQueue } from '../../domain/slice-queue.ts'
import type { Slices } from '../../domain/slices.ts'

/**
 * Compiles documents without delaying requests. Work begins at once and may take a few milliseconds, so that a usual
 * document waits for nobody. The rest of a large one goes to the queue of the service. One document is finished there
 * before the next one follows, because a plan in progress takes more memory than a document that waits. The workspaces
 * take turns.
 */
export class CompileQueue {
  readonly #slices: SliceQueue
  readonly #share: FairShare
  /** Resumes documents that have begun, by workspace. The first workspace is next. */
  readonly #waiting = new Map<string, (() => void)[]>()
  #isBusy = false
  /** Whether a large document has begun in this turn of the event loop. */
  #isUsedUp = false

  constructor({ slices, shareFactor }: CompileQueueOptions) {
    this.#slices = slices
    this.#share = new FairShare({ total: waitingMax, factor: shareFactor })
  }

  /**
   * Throws OVERLOADED when so many large documents wait that another one from this workspace could exhaust the memory.
   * For work that a client sends. Work on stored documents is not refused.
   */
  assertRoom(workspaceId: string): void {
    if (this.#share.hasRoom(workspaceId)) return
    throw new AppError('OVERLOADED', 'Too many large documents are being checked. Try again in a moment.', {
      retryAfterS: 2,
    })
  }

  /** Resolves with the result. Rejects with what the work throws. */
  async run<Result>(workspaceId: string, slices: Slices<Result>): Promise<Result> {
    while (this.#isUsedUp) await new Promise(setImmediate)
    const begun = this.#slices.begin(slices)
    if (begun.done) return begun.value
    this.#isUsedUp = true
    setImmediate(() => {
      this.#isUsedUp = false
    })
    this.#share.take(workspaceId)
    try {
      if (this.#isBusy) await this.#turnOf(workspaceId)
      this.#isBusy = true
      return await this.#slices.runSoon(slices)
    } finally {
      this.#share.release(workspaceId)
      this.#resumeNext()
    }
  }

  #turnOf(workspaceId: string): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(workspaceId)
      if (waiting) waiting.push(resolve)
      else this.#waiting.set(workspaceId, [resolve])
    })
  }

  #resumeNext(): void {
    const [entry] = this.#waiting
    // The next document takes over before anything else can begin.
    this.#isBusy = entry !== undefined
    if (!entry) return
    const [workspaceId, [resume, ...others]] = entry
    this.#waiting.delete(workspaceId)
    if (others.length > 0) this.#waiting.set(workspaceId, others)
    resume?.()
  }
}

/** A document that waits takes about 10 MB. */
const waitingMax = 20

export type CompileQueueOptions = { slices: SliceQueue; shareFactor: number }
