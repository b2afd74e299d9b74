import { AppError } from '../../../domain/errors.ts'
import type { Write } from '../../../domain/run/write.ts'
import type { RetentionBounds, RetentionStep } from '../../store.ts'
import { unavailable } from '../failures.ts'
import type { JournalImporter } from '../legacy-journal/import.ts'
import type { OpenOptions } from '../open.ts'
import { unpackMembers } from './large-replies.ts'
import { packLarge } from './large-writes.ts'
import { errorOf, openId, type Reply, type Request } from './messages.ts'
import type { Arguments, OperationName, Result } from './operations.ts'

export type ThreadOptions = {
  /** Lets the other threads run first, and sleeps now and then during long work. */
  lowPriority?: boolean
  legacyJournal?: JournalImporter | undefined
  /** Receives the executor's `losses`, if there are any. */
  onLost?: ((lost: readonly string[]) => void) | undefined
}

type Waiting = { resolve(value: unknown): void; reject(error: Error): void }

/** Calls that may wait for one storage thread; beyond that, calls are refused with `OVERLOADED`. */
const waitingMax = 10_000

/** The handle of a storage thread. The thread carries out and settles calls in order. */
export class Thread {
  readonly #worker: Worker
  readonly #waiting = new Map<number, Waiting>()
  #lastId = openId
  #dead: string | undefined

  /** Resolves when the database is open. Rejects with what `openConnection` throws. */
  static async start(
    options: OpenOptions,
    { lowPriority = false, legacyJournal, onLost }: ThreadOptions = {},
  ): Promise<Thread> {
    const thread = new Thread()
    try {
      const lost = (await thread.#ask(openId, { open: options, lowPriority, legacyJournal })) as readonly string[]
      if (lost.length > 0) onLost?.(lost)
      return thread
    } catch (error) {
      thread.#worker.terminate()
      throw error
    }
  }

  /** `copyDatabase` in a thread of its own, so that the caller's thread still receives signals. */
  static async copy(from: string, to: string): Promise<void> {
    const thread = new Thread()
    try {
      await thread.#ask(openId, { copy: { from, to } })
    } finally {
      thread.#worker.terminate()
    }
  }

  private constructor() {
    // The executable's modules all have the bundle's root as their URL.
    const file = import.meta.url.includes('/$bunfs/') ? './store/sqlite/thread/worker.js' : './worker.ts'
    this.#worker = new Worker(new URL(file, import.meta.url).href)
    this.#worker.onmessage = ({ data }: MessageEvent<Reply>) => this.#settle(data)
    this.#worker.onerror = ({ message }) => this.#die(message)
    this.#worker.addEventListener('close', () => this.#die('it ended'))
  }

  get callsWaiting(): number {
    return this.#waiting.size
  }

  call<Name extends OperationName>(name: Name, args: Arguments<Name>): Promise<Result<Name>> {
    const id = ++this.#lastId
    return this.#ask(id, { id, operation: name, args }) as Promise<Result<Name>>
  }

  /** `append` for a group. */
  append(writes: readonly Write[]): Promise<Result<'append'>> {
    const large = packLarge(writes)
    if (!large) return this.call('append', [writes])
    const id = ++this.#lastId
    return this.#ask(id, { id, append: large.packed }, large.buffers) as Promise<Result<'append'>>
  }

  retain(bounds: RetentionBounds): Promise<RetentionStep & { walBytes: number }> {
    const id = ++this.#lastId
    return this.#ask(id, { id, retain: bounds }) as Promise<RetentionStep & { walBytes: number }>
  }

  async probe(): Promise<boolean> {
    if (this.#dead !== undefined) return false
    const id = ++this.#lastId
    return (await this.#ask(id, { id, control: 'probe' })) as boolean
  }

  /** One step of summarising the entries of a workspace, or of all; false when there is nothing more to do. */
  async summarise(workspaceId: string | undefined): Promise<boolean> {
    const id = ++this.#lastId
    return (await this.#ask(id, { id, summarise: workspaceId })) as boolean
  }

  /** As `Executor.compact`. */
  compact(): Promise<void> {
    const id = ++this.#lastId
    return this.#ask(id, { id, control: 'compact' }) as Promise<void>
  }

  /** As `Executor.checkpoint`. */
  checkpoint(): Promise<number | undefined> {
    const id = ++this.#lastId
    return this.#ask(id, { id, control: 'checkpoint' }) as Promise<number | undefined>
  }

  /** As `Executor.markUnhealthy`. */
  markUnhealthy(): void {
    const id = ++this.#lastId
    // No caller waits for the result: it shows in the following writes.
    this.#ask(id, { id, control: 'markUnhealthy' }).catch(() => {})
  }

  /** Closes the database after the calls that are in progress. */
  async close(): Promise<void> {
    if (this.#dead !== undefined) return
    const id = ++this.#lastId
    try {
      await this.#ask(id, { id, control: 'close' })
    } finally {
      this.#dead = 'it was closed'
      this.#worker.terminate()
    }
  }

  /** `buffers`: those of the request that the thread takes over. */
  #ask(id: number, request: Request, buffers: ArrayBuffer[] = []): Promise<unknown> {
    if (this.#dead !== undefined) return Promise.reject(this.#deathNotice())
    if (this.#waiting.size >= waitingMax) {
      return Promise.reject(
        new AppError('OVERLOADED', `More than ${waitingMax} calls wait for the database. Try again in a moment.`, {
          retryAfterS: 1,
        }),
      )
    }
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#worker.postMessage(request, buffers)
    })
  }

  #settle(reply: Reply): void {
    const waiting = this.#waiting.get(reply.id)
    this.#waiting.delete(reply.id)
    if ('error' in reply) waiting?.reject(errorOf(reply.error))
    else waiting?.resolve(reply.packed ? unpackMembers(reply.value, reply.packed) : reply.value)
  }

  #die(reason: string): void {
    this.#dead ??= reason
    for (const waiting of this.#waiting.values()) waiting.reject(this.#deathNotice())
    this.#waiting.clear()
  }

  #deathNotice(): AppError {
    return unavailable(`The storage thread has ended (${this.#dead}). Restart the service.`)
  }
}
