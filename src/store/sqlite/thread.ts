import type { Refusal } from '../../domain/claim.ts'
import type { EndedAttempt } from '../../domain/delivery.ts'
import { AppError } from '../../domain/errors.ts'
import type { Write } from '../../domain/write.ts'
import type { RetentionBounds, RetentionStep } from '../store.ts'
import type { JournalSource } from './executor.ts'
import { unavailable } from './failures.ts'
import { encodeAttempts, encodeGroup } from './group.ts'
import type { Taken } from './intake.ts'
import { errorOf, openId, type Reply, type Request } from './messages.ts'
import type { OpenOptions } from './open.ts'
import type { Arguments, OperationName, Result } from './operations.ts'

type Waiting = { resolve(value: unknown): void; reject(error: Error): void }

/** Calls waiting for one storage thread; beyond it callers are told to come back. */
const waitingMax = 10_000

/** This thread's end of a storage thread: calls go over in order and are answered in order. */
export class Thread {
  readonly #worker: Worker
  readonly #waiting = new Map<number, Waiting>()
  #lastId = openId
  #dead: string | undefined
  #ahead: () => string | undefined = () => undefined

  /**
   * Resolves when the database is open. Rejects with what `openConnection` throws. `yields`: to other threads, where there
   * are more of them than processors.
   */
  static async start(
    options: OpenOptions,
    { yields = false, journal }: { yields?: boolean; journal?: JournalSource } = {},
  ): Promise<Thread> {
    const thread = new Thread()
    try {
      await thread.#ask(openId, { open: options, yields, journal })
      return thread
    } catch (error) {
      thread.#worker.terminate()
      throw error
    }
  }

  /** `copyDatabase`, off the caller's thread, which goes on hearing signals. */
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
    const file = import.meta.url.includes('/$bunfs/') ? './store/sqlite/worker.js' : './worker.ts'
    this.#worker = new Worker(new URL(file, import.meta.url).href)
    this.#worker.onmessage = ({ data }: MessageEvent<Reply>) => this.#settle(data)
    this.#worker.onerror = ({ message }) => this.#die(message)
    this.#worker.addEventListener('close', () => this.#die('it ended'))
  }

  /** Asked before each call what the thread has to hear first. */
  precede(ahead: () => string | undefined): void {
    this.#ahead = ahead
  }

  get callsWaiting(): number {
    return this.#waiting.size
  }

  call<Name extends OperationName>(name: Name, args: Arguments<Name>): Promise<Result<Name>> {
    const id = ++this.#lastId
    return this.#ask(id, { id, operation: name, args }) as Promise<Result<Name>>
  }

  append(writes: readonly Write[]): Promise<readonly Refusal[] | undefined> {
    const id = ++this.#lastId
    return this.#ask(id, `${id}\n${encodeGroup(writes)}`) as Promise<readonly Refusal[] | undefined>
  }

  endAttempts(attempts: readonly EndedAttempt[]): Promise<void> {
    const id = ++this.#lastId
    return this.#ask(id, { id, attempts: encodeAttempts(attempts) }) as Promise<void>
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

  /** Puts together what was written in small pieces. */
  pack(): Promise<void> {
    const id = ++this.#lastId
    return this.#ask(id, { id, control: 'pack' }) as Promise<void>
  }

  /** Moves the WAL into the database, as far as no reader needs it. Answers how much is left, as `Executor.checkpoint`. */
  checkpoint(): Promise<number | undefined> {
    const id = ++this.#lastId
    return this.#ask(id, { id, control: 'checkpoint' }) as Promise<number | undefined>
  }

  /** As `Executor.takeIn`; `flushed`: as `takeInFlushed`. */
  takeIn(flushed = false): Promise<Taken> {
    const id = ++this.#lastId
    return this.#ask(id, { id, control: flushed ? 'takeInFlushed' : 'takeIn' }) as Promise<Taken>
  }

  /** As `Executor.beginJournal`. */
  beginJournal(generation: number): Promise<number> {
    const id = ++this.#lastId
    return this.#ask(id, { id, beginJournal: generation }) as Promise<number>
  }

  /** Makes the next write prove the disk first. */
  distrust(): void {
    const id = ++this.#lastId
    // Nobody waits for the outcome: it shows in the writes that follow.
    this.#ask(id, { id, control: 'distrust' }).catch(() => {})
  }

  /** After the calls that are under way. */
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

  #ask(id: number, request: Request): Promise<unknown> {
    if (this.#dead !== undefined) return Promise.reject(this.#deathNotice())
    if (this.#waiting.size >= waitingMax) {
      return Promise.reject(
        new AppError('OVERLOADED', `More than ${waitingMax} calls wait for the database`, { retryAfterS: 1 }),
      )
    }
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      const ahead = this.#ahead()
      if (ahead !== undefined) this.#worker.postMessage(ahead)
      this.#worker.postMessage(request)
    })
  }

  #settle(reply: Reply): void {
    const id = typeof reply === 'number' ? reply : reply.id
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (typeof reply === 'number') waiting?.resolve(undefined)
    else if ('error' in reply) waiting?.reject(errorOf(reply.error))
    else waiting?.resolve(reply.value)
  }

  #die(reason: string): void {
    this.#dead ??= reason
    for (const waiting of this.#waiting.values()) waiting.reject(this.#deathNotice())
    this.#waiting.clear()
  }

  #deathNotice(): AppError {
    return unavailable(`The storage thread does not run any more (${this.#dead}). Restart the service.`)
  }
}
