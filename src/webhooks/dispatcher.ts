import type { Timer } from '../domain/clock.ts'
import { isRefusedForNow } from '../domain/errors.ts'
import type { LogRow } from '../domain/run/log.ts'
import type { DeliveryKey } from '../domain/webhook/delivery.ts'
import type { Store } from '../store/store.ts'
import { Attempts, type AttemptsOptions } from './attempts.ts'
import { Background } from './background.ts'
import { dueMsMax, type Item, Lane, type Line } from './lane.ts'
import { type Place, Places } from './places.ts'
import { type Receiver, Receivers, type ReceiversOptions } from './receivers.ts'
import { Reminders } from './reminders.ts'
import { UserDecisions, type UserDecisionsOptions } from './user-decisions.ts'
import { Yielding } from './yielding.ts'

export type DispatcherOptions = ReceiversOptions &
  Omit<AttemptsOptions, 'read'> & {
    store: OutboxStore
    /** Attempts in flight at once. */
    concurrency: number
  }

export type OutboxStore = UserDecisionsOptions['store'] &
  Pick<Store, 'getSubscriptions' | 'pendingSubscriptions' | 'nextDeliveries' | 'readDeliveries'>

/**
 * Delivers what the outbox holds. Every delivery is on disk before it comes here, and stays there, due, until what became
 * of an attempt is on disk: whenever the process ends, the next one goes on. A data folder has one process at a time, so
 * nothing else is needed to claim a delivery than to have it in hand.
 *
 * Each subscription has its lane. A delivery waits in it until it is due (the wheel says when), then until its lane has
 * its turn (`Places`). Then its body is made, an attempt is made of it, and what came of that is written in the groups of the
 * log writer.
 *
 * Where runs need the processor deliveries yield to them (`Yielding`).
 */
export class Dispatcher {
  readonly decisions: UserDecisions
  readonly #options: DispatcherOptions
  readonly #lines = new Map<number, Line>()
  readonly #places: Places<Line>
  readonly #receivers: Receivers
  readonly #attempts: Attempts
  readonly #reminders: Reminders<Reminder>
  readonly #yielding: Yielding
  #isPumping = false
  /** Whether all that an earlier process left is known. */
  #isOpen = false
  #opening: Timer | undefined
  readonly #background = new Background()
  #isStopping = false

  constructor(options: DispatcherOptions) {
    const { clock, store, concurrency } = options
    this.#options = options
    const charsOf = ({ lane }: Line) => this.#attempts.charsOf(lane.next)
    const onRoom = () => this.#pumpSoon()
    this.#places = new Places({ total: concurrency, perHost: perHostMax, charsOf, clock, onRoom })
    this.#receivers = new Receivers(options)
    this.#attempts = new Attempts({ ...options, read: (needs) => store.readDeliveries(needs) })
    this.decisions = new UserDecisions({
      store,
      now: () => clock.now(),
      findLane: (subscription) => this.#lines.get(subscription)?.lane,
      expect: (key, dueAt) => this.#expect(key, dueAt),
    })
    this.#yielding = new Yielding(clock, () => this.#pumpSoon())
    this.#reminders = new Reminders(clock, (reminder) => this.#remind(reminder))
  }

  /** Attempts on their way. */
  get inFlight(): number {
    return this.#places.running
  }

  /** Whether nothing is due, being read, or on its way; what waits for a later time does not count. */
  get isQuiet(): boolean {
    return this.#background.isIdle && this.#lines.values().every(({ lane }) => lane.readyCount === 0)
  }

  /** Takes up what an earlier process left, as soon as that can be read. Never rejects. */
  async open(): Promise<void> {
    try {
      const pending = await this.#options.store.pendingSubscriptions()
      this.#isOpen = true
      // Not all at once: there may be thousands.
      const spreadMs = Math.min(pending.length * spreadMsEach, spreadMsMax)
      for (const subscription of pending) {
        const line = this.#lineOf(subscription)
        line.lane.distrust()
        this.#wake(line, this.#options.random() * spreadMs)
      }
    } catch (error) {
      if (!isRefusedForNow(error)) this.#options.onBug(error)
      if (!this.#isStopping) this.#opening = this.#options.clock.setTimer(retryMs, () => void this.open())
    }
  }

  /** A run that owes something and is on disk now. */
  take(row: LogRow): void {
    if (!row.webhooks || this.#isStopping) return
    const position = { dueAt: row.endedAt, sequence: row.sequence }
    const taken = row.webhooks.deliveries.filter((owed) => !this.#lineOf(owed.subscription).lane.leaves(position))
    if (taken.length === 0) return
    const [source, committedAt] = [this.#attempts.sourceOf(row, taken.length), this.#options.clock.monotonic()]
    for (const { subscription, include } of taken) {
      const line = this.#lineOf(subscription)
      const delivery = { ...position, subscription, include, attempts: 0, attemptsBefore: 0 }
      if (!line.lane.put(delivery, source, committedAt)) this.#attempts.releaseOne(source)
      this.#keepUp(line)
    }
  }

  /** So many runs were recorded in one commit, whether they owe anything or not. */
  recorded(runs: number): void {
    this.#yielding.recorded(runs)
  }

  /** Starts no more attempts, lets those on their way end for `graceMs` at most, and writes down what came of them. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true
    this.#opening?.cancel()
    this.#reminders.stop()
    this.#yielding.stop()
    this.#places.stop()
    const grace = this.#options.clock.setTimer(graceMs, () => this.#attempts.stop())
    await this.#background.whenIdle()
    grace.cancel()
    this.#attempts.stop()
  }

  #lineOf(subscription: number): Line {
    const known = this.#lines.get(subscription)
    if (known) return known
    const { store, clock } = this.#options
    const line: Line = {
      lane: new Lane(
        {
          subscription,
          list: (after, limit) => store.nextDeliveries(subscription, after, limit),
          schedule: (item) => this.#schedule(line, item),
          dropped: (item) => {
            if (item.state === 'waiting') this.#reminders.cancel(item.timer)
            this.#attempts.release(item)
          },
          now: () => clock.now(),
        },
        this.#isOpen,
      ),
      host: '',
      isFinding: false,
      wakeTimer: -1,
      wakeAt: 0,
    }
    this.#lines.set(subscription, line)
    return line
  }

  #expect({ subscription, sequence }: DeliveryKey, dueAt: number): void {
    const line = this.#lineOf(subscription)
    line.lane.expect({ dueAt, sequence })
    this.#keepUp(line)
  }

  /** Ready when it is due, and waiting until then. */
  #schedule(line: Line, item: Item): void {
    // The time of day may have been set back: nothing is due later than the longest delay from now.
    const delayMs = Math.min(item.dueAt - this.#options.clock.now(), dueMsMax)
    if (delayMs <= 0) {
      line.lane.becomeReady(item)
      return
    }
    item.state = 'waiting'
    item.timer = this.#reminders.set(delayMs, { line, item })
  }

  #remind({ line, item }: Reminder): void {
    if (item) line.lane.becomeReady(item)
    else line.wakeTimer = -1
    this.#keepUp(line)
  }

  /** What a lane has to do next: have its turn, read on, or be woken. */
  #keepUp(line: Line): void {
    if (this.#isStopping) return
    const { lane } = line
    if (lane.readyCount > 0) this.#seat(line)
    if (lane.needsRefill(lookaheadMs)) {
      const reading = lane.refill().then(
        () => this.#keepUp(line),
        () => this.#wake(line, retryMs),
      )
      this.#background.own(reading)
    } else if (lane.horizonAt !== undefined && lane.readyCount === 0) {
      this.#wake(line, Math.min(lane.horizonAt - this.#options.clock.now() - lookaheadMs, dueMsMax))
    } else if (lane.isEmpty && !line.isFinding && line.wakeTimer === -1) {
      this.#places.leave(line)
      // It may be gone already, and another one there in its place.
      if (this.#lines.get(lane.subscription) !== line) return
      this.#lines.delete(lane.subscription)
      this.#receivers.forget(lane.subscription)
    }
  }

  /** The earlier of two wakings counts. */
  #wake(line: Line, delayMs: number): void {
    const at = this.#options.clock.monotonic() + Math.max(delayMs, wakeMsMin)
    if (line.wakeTimer !== -1 && line.wakeAt <= at) return
    if (line.wakeTimer !== -1) this.#reminders.cancel(line.wakeTimer)
    line.wakeTimer = this.#reminders.set(Math.max(delayMs, wakeMsMin), { line, item: undefined })
    line.wakeAt = at
  }

  /** Into the line of its host; who that is may have changed. */
  #seat(line: Line): void {
    if (line.isFinding) return
    const receiver = this.#receivers.of(line.lane.subscription)
    if (receiver instanceof Promise) {
      line.isFinding = true
      this.#background.own(this.#find(line, receiver))
      return
    }
    if (line.host !== receiver.host) this.#places.leave(line)
    line.host = receiver.host
    this.#places.wait(line)
    this.#pumpSoon()
  }

  async #find(line: Line, receiver: Promise<Receiver>): Promise<void> {
    const failure = await receiver.then(() => undefined).catch((error: unknown) => ({ error }))
    line.isFinding = false
    if (!failure) return this.#keepUp(line)
    if (!isRefusedForNow(failure.error)) this.#options.onBug(failure.error)
    this.#wake(line, retryMs)
  }

  #pumpSoon(): void {
    if (this.#isPumping || this.#isStopping) return
    this.#isPumping = true
    setImmediate(() => {
      this.#isPumping = false
      this.#pump()
    })
  }

  #pump(): void {
    const { room } = this.#yielding
    for (let started = 0; started < room; started += 1) {
      const taken = this.#isStopping ? undefined : this.#places.take()
      if (!taken) return
      this.#yielding.started()
      this.#begin(taken.lane, taken.place)
    }
    if (room > 0) this.#pumpSoon()
  }

  #begin(line: Line, place: Place): void {
    const receiver = this.#receivers.known(line.lane.subscription)
    const item = receiver?.host === line.host ? line.lane.take() : undefined
    if (item && receiver) {
      const unread = item.source || item.reading ? line.lane.unread(readAhead) : [item, ...line.lane.unread(0)]
      if (unread.length > 0) this.#attempts.readAhead(unread)
      this.#background.own(this.#attempt(line, item, place, receiver))
    } else place.release(undefined)
    if (line.lane.readyCount > 0) this.#seat(line)
  }

  /** Never rejects. */
  async #attempt(line: Line, item: Item, place: Place, receiver: Receiver): Promise<void> {
    const ended = await this.#attempts.make(item, receiver)
    if (ended === 'cut' || ended === 'unmade') {
      place.release(undefined)
      if (ended === 'cut') return
      item.state = 'waiting'
      item.timer = this.#reminders.set(retryMs, { line, item })
      return
    }
    place.release(ended.attempt.failure?.code !== 'TIMEOUT')
    this.#pumpSoon()
    if (!(await this.#attempts.record(item, ended))) return
    const { dueAt } = ended.outcome
    line.lane.settle(item, item.isCancelled ? null : dueAt)
    // Whether it was cancelled the disk says, which may have refused that.
    if (item.isCancelled && dueAt !== null) line.lane.expect({ dueAt, sequence: item.sequence })
    this.#keepUp(line)
  }
}

/** Without an item: a lane that reads on. */
type Reminder = { line: Line; item: Item | undefined }

const perHostMax = 10
/** How far ahead of its time a delivery is read into memory. */
const lookaheadMs = 2_000
const wakeMsMin = 100
/** Over which the lanes that a start finds begin: all of them, and for each. */
const spreadMsMax = 4_000
const spreadMsEach = 20
const retryMs = 1_000
/** How far ahead of its turn what a delivery is made of is read, in deliveries. */
const readAhead = 128
