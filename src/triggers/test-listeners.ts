import type { Clock, Timer } from '../domain/clock.ts'
import { AppError } from '../domain/errors.ts'
import { FairShare } from '../domain/fair-share.ts'
import { limitSettings } from '../domain/limits.ts'

export type TestListenersOptions = {
  clock: Clock
  /** A secret that nobody can guess. */
  newToken(): string
  /** How workspaces share the places of listeners. */
  shareFactor: number
}

/** `bytes`: the memory that the request takes until it is dropped. */
type Sized = { bytes: number }

/** The triggers that have test addresses. */
export const listeningTriggers = ['webhook', 'chat'] as const
export type ListeningTrigger = (typeof listeningTriggers)[number]

/** One person who waits for a test request at a trigger of a draft. */
export type Listener<Request> = {
  readonly token: string
  readonly workflowId: string
  readonly workspaceId: string
  readonly userId: string
  readonly trigger: ListeningTrigger
  /** Epoch milliseconds: when it stops waiting, or forgets the request. */
  readonly expiresAt: number
  readonly request: Request | undefined
}

type NewListener = Pick<Listener<unknown>, 'workflowId' | 'workspaceId' | 'userId' | 'trigger'>

/**
 * Test addresses of webhook and chat triggers. A listener waits for one request. When it has taken one, it keeps it for
 * a while and refuses all others. A person has one listener per workflow: a new one replaces it. Everything is in
 * memory, which workspaces share, and ends with the process.
 */
export class TestListeners<Request extends Sized> {
  readonly #options: TestListenersOptions
  /** By token, oldest first. */
  readonly #entries = new Map<string, Entry<Request>>()
  readonly #places: FairShare
  #heldBytes = 0

  constructor(options: TestListenersOptions) {
    this.#options = options
    this.#places = new FairShare({ total: listenersMax, factor: options.shareFactor })
  }

  /** Throws OVERLOADED when too many people of the workspace listen. */
  open(opened: NewListener): Listener<Request> {
    const { workflowId, workspaceId, userId } = opened
    const earlier = this.#entries.values().find((each) => each.workflowId === workflowId && each.userId === userId)
    if (earlier) this.#end(earlier)
    if (!this.#places.hasRoom(workspaceId)) {
      const message =
        `The workspace already has its share of the ${listenersMax} test addresses that exist at once. Stop listening ` +
        `elsewhere, or raise ${limitSettings.shareFactor}.`
      throw new AppError('OVERLOADED', message, { retryAfterS: 60 })
    }
    this.#places.take(workspaceId)
    const { clock, newToken } = this.#options
    const token = newToken()
    const entry: Entry<Request> = {
      ...{ ...opened, token, expiresAt: clock.now() + waitMs, request: undefined, waiting: new Set() },
      timer: clock.setTimer(waitMs, () => this.#end(entry)),
    }
    this.#entries.set(token, entry)
    return entry
  }

  find(token: string): Listener<Request> | undefined {
    return this.#entries.get(token)
  }

  /** The listener at a test address of this trigger. */
  at(trigger: ListeningTrigger, token: string): Listener<Request> | undefined {
    const entry = this.#entries.get(token)
    return entry?.trigger === trigger ? entry : undefined
  }

  /** Gives the request to the listener. False when it has one already, or has ended. */
  take(token: string, request: Request): boolean {
    const entry = this.#entries.get(token)
    if (!entry || entry.request) return false
    const { clock } = this.#options
    entry.timer.cancel()
    entry.request = request
    entry.expiresAt = clock.now() + keepMs
    entry.timer = clock.setTimer(keepMs, () => this.#end(entry))
    this.#heldBytes += request.bytes
    this.#makeRoom(entry)
    wake(entry)
    return true
  }

  /** Waits until the listener has taken a request, has ended, or `forMs` have passed. */
  async wait(token: string, forMs: number, signal: AbortSignal): Promise<Listener<Request> | undefined> {
    const entry = this.#entries.get(token)
    if (!entry || entry.request || signal.aborted) return entry
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = this.#options.clock.setTimer(forMs, resolve)
    entry.waiting.add(resolve)
    signal.addEventListener('abort', () => resolve(), { once: true })
    await promise
    timer.cancel()
    entry.waiting.delete(resolve)
    return this.#entries.get(token)
  }

  close(token: string): void {
    const entry = this.#entries.get(token)
    if (entry) this.#end(entry)
  }

  stop(): void {
    for (const entry of [...this.#entries.values()]) this.#end(entry)
  }

  /** Drops requests of the workspace that holds the most, the oldest first. The latest request stays. */
  #makeRoom(latest: Entry<Request>): void {
    while (this.#heldBytes > heldBytesMax) {
      const held = new Map<string, number>()
      for (const { workspaceId, request } of this.#entries.values()) {
        held.set(workspaceId, (held.get(workspaceId) ?? 0) + (request?.bytes ?? 0))
      }
      const others = [...this.#entries.values()].filter((entry) => entry.request && entry !== latest)
      const bytesOf = ({ workspaceId }: Entry<Request>) => held.get(workspaceId) ?? 0
      const [first] = others.toSorted((one, other) => bytesOf(other) - bytesOf(one))
      if (!first) return
      this.#end(first)
    }
  }

  #end(entry: Entry<Request>): void {
    entry.timer.cancel()
    if (this.#entries.delete(entry.token)) this.#places.release(entry.workspaceId)
    this.#heldBytes -= entry.request?.bytes ?? 0
    wake(entry)
  }
}

type Entry<Request> = Omit<Listener<Request>, 'expiresAt' | 'request'> & {
  expiresAt: number
  request: Request | undefined
  timer: Timer
  readonly waiting: Set<() => void>
}

function wake({ waiting }: { waiting: Set<() => void> }): void {
  for (const resolve of waiting) resolve()
}

const waitMs = 10 * 60_000
/** How long a taken request is kept. */
const keepMs = 30 * 60_000
const listenersMax = 1_000
/** The memory for all taken requests. Beyond it, the oldest are dropped. */
const heldBytesMax = 64 * 1_048_576
