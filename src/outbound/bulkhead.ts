import { FairShare } from '../domain/fair-share.ts'
import { OutboundError } from '../domain/outbound-request.ts'

/**
 * How many requests may be in flight: in all, and of one workspace to one origin; and how many more may wait for a
 * slot. Workspaces share the total and the places for waiting requests (`FairShare`).
 */
export type Concurrency = { total: number; perOrigin: number; waiting: number; shareFactor: number }

/** The workspace that sends a request, and where the request goes. An origin is a scheme, a host and a port. */
export type Route = { workspace: string; host: string; origin: string }

/** A slot for one request in flight. Releasing it twice has no effect. */
export type Slot = {
  release(): void
  /**
   * Lets another request have the slot, because this one waits for something that the other one may free. When as many
   * requests as there are slots have done so and are not over, this has no effect.
   */
  lend(): void
}

/** A host name may have as many slots as this many origins. */
const originsPerHost = 4

/**
 * Prevents slow origins and busy workspaces from taking all slots. A request waits in the queue of its workspace and
 * origin. A free slot goes to the next workspace in turn that is within its share; there to the next host, and there to
 * the next origin that is below its own limit, however many requests wait for the others.
 */
export class Bulkhead {
  readonly #bounds: Concurrency
  readonly #slots: FairShare
  readonly #places: FairShare
  #lent = 0
  readonly #root = new Lane('', undefined, Number.POSITIVE_INFINITY)

  constructor(bounds: Concurrency) {
    const { total, waiting, shareFactor } = bounds
    this.#bounds = bounds
    this.#slots = new FairShare({ total, factor: shareFactor })
    this.#places = new FairShare({ total: waiting, factor: shareFactor })
  }

  get running(): number {
    return this.#root.running
  }

  get waiting(): number {
    return this.#root.waiting
  }

  /** Workspaces with a request in flight or waiting. */
  get workspaces(): number {
    return this.#root.parts.size
  }

  /** Takes a slot that is free now; undefined when there is none. */
  take(route: Route): Slot | undefined {
    const lane = this.#laneOf(route)
    if (this.#hasFreeSlot(lane, route)) return this.#take(lane, route)
    lane.forget()
    return undefined
  }

  /** Rejects with the signal's reason when it aborts first, and with `CONNECTION_FAILED` when too many wait. */
  acquire(route: Route, signal: AbortSignal): Promise<Slot> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      const lane = this.#laneOf(route)
      if (this.#hasFreeSlot(lane, route)) return resolve(this.#take(lane, route))
      if (!this.#places.hasRoom(route.workspace)) {
        lane.forget()
        return reject(this.#full(route))
      }
      const abort = () => {
        this.#stopWaiting(lane, route, waiter)
        reject(signal.reason)
      }
      const waiter = () => {
        signal.removeEventListener('abort', abort)
        const slot = this.#take(lane, route)
        this.#stopWaiting(lane, route, waiter)
        resolve(slot)
      }
      signal.addEventListener('abort', abort, { once: true })
      this.#places.take(route.workspace)
      lane.wait(waiter)
    })
  }

  #laneOf({ workspace, host, origin }: Route): Lane {
    const { perOrigin } = this.#bounds
    return this.#root
      .part(workspace, Number.POSITIVE_INFINITY)
      .part(host, originsPerHost * perOrigin)
      .part(origin, perOrigin)
  }

  #hasFreeSlot(lane: Lane, { workspace }: Route): boolean {
    return lane.isBelowLimits && this.#slots.hasRoom(workspace)
  }

  #take(lane: Lane, route: Route): Slot {
    this.#slots.take(route.workspace)
    lane.run(1)
    return new HeldSlot(
      () => this.#release(lane, route),
      (step) => this.#lend(step),
    )
  }

  /** Counts a slot that is lent (1), or a request without a slot that is over (-1). Returns false when too many are. */
  #lend(step: 1 | -1): boolean {
    if (step === 1 && this.#lent >= this.#bounds.total) return false
    this.#lent += step
    return true
  }

  #release(lane: Lane, { workspace }: Route): void {
    this.#slots.release(workspace)
    lane.run(-1)
    this.#serve()
    lane.forget()
  }

  #serve(): void {
    for (const workspace of this.#root.turns) {
      if (this.#slots.used >= this.#bounds.total) return
      if (this.#slots.hasRoom(workspace.name)) workspace.serve()
    }
  }

  #stopWaiting(lane: Lane, { workspace }: Route, waiter: () => void): void {
    this.#places.release(workspace)
    lane.leave(waiter)
    lane.forget()
  }

  #full({ host }: Route): OutboundError {
    const { total, waiting } = this.#bounds
    const message =
      `${host} was not called: the workspace already has its share of the ${total} slots for requests ` +
      `(MILLRACE_OUTBOUND_CONCURRENCY) and of the ${waiting} places for requests that wait for a slot`
    return new OutboundError('CONNECTION_FAILED', message)
  }
}

class HeldSlot implements Slot {
  #release: (() => void) | undefined
  readonly #count: (step: 1 | -1) => boolean

  constructor(release: () => void, count: (step: 1 | -1) => boolean) {
    this.#release = release
    this.#count = count
  }

  release(): void {
    const release = this.#release
    this.#release = undefined
    release?.()
  }

  lend(): void {
    const release = this.#release
    if (!release || !this.#count(1)) return
    this.#release = () => void this.#count(-1)
    release()
  }
}

/**
 * A node in the tree of workspaces, hosts and origins: the requests below it that are in flight, and the parts of it
 * that could use a free slot, in the order of their turns. Requests wait in origins, which have no parts.
 */
class Lane {
  readonly name: string
  readonly whole: Lane | undefined
  readonly #runningMax: number
  readonly parts = new Map<string, Lane>()
  readonly turns = new Set<Lane>()
  readonly #waiters = new Set<() => void>()
  running = 0
  waiting = 0

  constructor(name: string, whole: Lane | undefined, runningMax: number) {
    this.name = name
    this.whole = whole
    this.#runningMax = runningMax
  }

  get isBelowLimits(): boolean {
    return this.running < this.#runningMax && (this.whole?.isBelowLimits ?? true)
  }

  part(name: string, runningMax: number): Lane {
    let lane = this.parts.get(name)
    if (!lane) {
      lane = new Lane(name, this, runningMax)
      this.parts.set(name, lane)
    }
    return lane
  }

  /** Counts a request that started (1) or ended (-1). */
  run(step: 1 | -1): void {
    for (let lane: Lane | undefined = this; lane; lane = lane.whole) {
      lane.running += step
      lane.keepTurn()
    }
  }

  wait(waiter: () => void): void {
    this.#waiters.add(waiter)
    for (let lane: Lane | undefined = this; lane; lane = lane.whole) {
      lane.waiting++
      lane.keepTurn()
    }
  }

  leave(waiter: () => void): void {
    this.#waiters.delete(waiter)
    for (let lane: Lane | undefined = this; lane; lane = lane.whole) {
      lane.waiting--
      lane.keepTurn()
    }
  }

  /** Serves the waiter whose turn it is. Every lane on the way goes to the end of its turns. */
  serve(): void {
    this.whole?.turns.delete(this)
    const [part] = this.turns
    const [waiter] = this.#waiters
    if (part) part.serve()
    else waiter?.()
    this.keepTurn()
  }

  /** Removes the lanes that nothing uses any more. */
  forget(): void {
    if (this.running > 0 || this.waiting > 0) return
    this.whole?.parts.delete(this.name)
    this.whole?.forget()
  }

  keepTurn(): void {
    const couldRun = this.running < this.#runningMax && (this.#waiters.size > 0 || this.turns.size > 0)
    if (couldRun) this.whole?.turns.add(this)
    else this.whole?.turns.delete(this)
  }
}
