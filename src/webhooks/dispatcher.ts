import type { Timer } from '../domain/clock.ts'
import { isRefusedForNow } from '../domain/errors.ts'
import type { LogRow } from '../domain/run/log.ts'
import type { DeliveryKey } from '../domain/webhook/delivery.ts'
import { Attempts } from './attempts.ts'
import { Background } from './background.ts'
import { DeliveryCommands } from './delivery-commands.ts'
import type { DispatcherOptions } from './dispatcher-options.ts'
import { FairScheduler, type Slot } from './fair-scheduler.ts'
import { type Receiver, Receivers } from './receivers.ts'
import { dueMsMax, type QueuedDelivery, SubscriptionQueue, type SubscriptionState } from './subscription-queue.ts'
import { TimerQueue } from './timer-queue.ts'
import { Yielding } from './yielding.ts'

/**
 * Sends the deliveries of the outbox. Each is on disk before it comes here, and stays due there until the outcome of an
 * attempt is on disk: when this process ends, another one continues. Each subscription has a queue. A delivery waits
 * there until it is due (the timer queue fires then), and until the scheduler selects the queue. Then the dispatcher
 * makes the body, sends it, and writes the outcome. When runs need the processor, deliveries yield to them.
 */
export class Dispatcher {
  readonly commands: DeliveryCommands
  readonly #options: DispatcherOptions
  readonly #states = new Map<number, SubscriptionState>()
  readonly #scheduler: FairScheduler<SubscriptionState>
  readonly #receivers: Receivers
  readonly #attempts: Attempts
  readonly #timers: TimerQueue<Due>
  readonly #yielding: Yielding
  #willDispatch = false
  /** Whether the deliveries that an earlier process left are known. */
  #isOpen = false
  #opening: Timer | undefined
  readonly #background = new Background()
  #isStopping = false

  constructor(options: DispatcherOptions) {
    this.#options = options
    const { clock, store, concurrency: total, hostConcurrency: perOrigin } = options
    const charsOf = ({ queue }: SubscriptionState) => this.#attempts.charsOf(queue.next)
    this.#scheduler = new FairScheduler({ total, perOrigin, charsOf, clock, onRoom: this.dispatchSoon })
    this.#receivers = new Receivers(options)
    this.#attempts = new Attempts({ ...options, read: (needs) => store.readDeliveries(needs) })
    this.commands = new DeliveryCommands({
      ...{ store, now: () => clock.now() },
      findQueue: (subscription) => this.#states.get(subscription)?.queue,
      expect: (key, dueAt) => this.expect(key, dueAt),
    })
    this.#yielding = new Yielding(clock, this.dispatchSoon)
    this.#timers = new TimerQueue(clock, (due) => this.#fire(due))
  }

  get inFlight(): number {
    return this.#scheduler.running
  }

  get attempting(): DeliveryKey[] {
    return [...this.#states.values()].flatMap(({ queue }) => queue.busy)
  }

  get isQuiet(): boolean {
    return this.#background.isIdle && this.#states.values().every(({ queue }) => queue.readyCount === 0)
  }

  /** Continues with the deliveries that an earlier process left, as soon as they can be read. Never rejects. */
  async open(): Promise<void> {
    try {
      const pending = await this.#options.store.pendingSubscriptions()
      this.#isOpen = true
      this.adopt(pending)
    } catch (error) {
      if (!isRefusedForNow(error)) this.#options.onBug(error)
      if (!this.#isStopping) this.#opening = this.#options.clock.setTimer(retryMs, () => void this.open())
    }
  }

  /** Continues with deliveries that another process left: those of these subscriptions. */
  adopt(subscriptions: readonly number[]): void {
    // Not all at once, because there may be thousands.
    const spreadMs = Math.min(subscriptions.length * spreadMsEach, spreadMsMax)
    for (const subscription of subscriptions) {
      const state = this.#stateOf(subscription)
      state.queue.rereadAll()
      this.#wake(state, this.#options.random() * spreadMs)
    }
  }

  /** Forgets all deliveries, because this process has lost its claims. */
  forgetAll(): void {
    for (const state of [...this.#states.values()]) {
      state.queue.forgetAll()
      this.#keepUp(state)
    }
  }

  /** Accepts a run that has pending deliveries and is on disk now. */
  take(row: LogRow): void {
    if (!row.webhooks || this.#isStopping) return
    const position = { dueAt: row.endedAt, sequence: row.sequence }
    const accepted = row.webhooks.deliveries.filter(
      (each) => !this.#stateOf(each.subscription).queue.leavesOnDisk(position),
    )
    if (accepted.length === 0) return
    const [source, committedAt] = [this.#attempts.sourceOf(row, accepted.length), this.#options.clock.monotonic()]
    for (const { subscription, include } of accepted) {
      const state = this.#stateOf(subscription)
      const delivery = { ...position, subscription, include, attempts: 0, attemptsBefore: 0 }
      if (!state.queue.put(delivery, source, committedAt)) this.#attempts.releaseOne(source)
      this.#keepUp(state)
    }
  }

  /** Counts the runs of one commit, with and without deliveries. */
  recorded(runs: number): void {
    this.#yielding.recorded(runs)
  }

  /** Starts no more attempts, waits `graceMs` at most for those in flight, and writes their outcomes. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true
    this.#opening?.cancel()
    this.#timers.stop()
    this.#yielding.stop()
    this.#scheduler.stop()
    const grace = this.#options.clock.setTimer(graceMs, () => this.#attempts.stop())
    await this.#background.whenIdle()
    grace.cancel()
    this.#attempts.stop()
  }

  #stateOf(subscription: number): SubscriptionState {
    const known = this.#states.get(subscription)
    if (known) return known
    const { store, clock } = this.#options
    const state: SubscriptionState = {
      queue: new SubscriptionQueue(
        {
          subscription,
          list: (after, limit) => store.nextDeliveries(subscription, after, limit),
          schedule: (item) => this.#schedule(state, item),
          dropped: (item) => {
            if (item.state === 'waiting') this.#timers.cancel(item.timer)
            this.#attempts.release(item)
          },
          now: () => clock.now(),
        },
        this.#isOpen,
      ),
      subscription,
      ...{ origin: '', isFinding: false, wakeTimer: -1, wakeAt: 0 },
    }
    this.#states.set(subscription, state)
    return state
  }

  /** A delivery is on disk that is not in memory. */
  expect({ subscription, sequence }: DeliveryKey, dueAt: number): void {
    const state = this.#stateOf(subscription)
    state.queue.expect({ dueAt, sequence })
    this.#keepUp(state)
  }

  /** Makes a delivery ready if it is due, and sets a timer otherwise. */
  #schedule(state: SubscriptionState, item: QueuedDelivery): void {
    // The system clock may have been set back. No delivery is due later than the longest delay from now.
    const delayMs = Math.min(item.dueAt - this.#options.clock.now(), dueMsMax)
    if (delayMs <= 0) {
      state.queue.becomeReady(item)
      return
    }
    item.state = 'waiting'
    item.timer = this.#timers.set(delayMs, { state, item })
  }

  #fire({ state, item }: Due): void {
    if (item) state.queue.becomeReady(item)
    else state.wakeTimer = -1
    this.#keepUp(state)
  }

  /** Decides what a queue does next: wait for its turn, read more from disk, or sleep. */
  #keepUp(state: SubscriptionState): void {
    if (this.#isStopping) return
    const { queue } = state
    if (queue.readyCount > 0) this.#enqueue(state)
    if (queue.needsRefill(lookaheadMs)) {
      const reading = queue.refill().then(
        () => this.#keepUp(state),
        () => this.#wake(state, retryMs),
      )
      this.#background.own(reading)
    } else if (queue.cursorDueAt !== undefined && queue.readyCount === 0) {
      this.#wake(state, Math.min(queue.cursorDueAt - this.#options.clock.now() - lookaheadMs, dueMsMax))
    } else if (queue.isEmpty && !state.isFinding && state.wakeTimer === -1) {
      this.#scheduler.leave(state)
      // Another queue may have replaced it already.
      if (this.#states.get(queue.subscription) !== state) return
      this.#states.delete(queue.subscription)
      this.#receivers.forget(queue.subscription)
    }
  }

  /** Wakes a queue after a delay. If it was to be woken already, the earlier time counts. */
  #wake(state: SubscriptionState, delayMs: number): void {
    const at = this.#options.clock.monotonic() + Math.max(delayMs, wakeMsMin)
    if (state.wakeTimer !== -1 && state.wakeAt <= at) return
    if (state.wakeTimer !== -1) this.#timers.cancel(state.wakeTimer)
    state.wakeTimer = this.#timers.set(Math.max(delayMs, wakeMsMin), { state, item: undefined })
    state.wakeAt = at
  }

  /** Gives a queue to the scheduler. The subscription's origin may have changed. */
  #enqueue(state: SubscriptionState): void {
    if (state.isFinding) return
    const receiver = this.#receivers.of(state.queue.subscription)
    if (receiver instanceof Promise) {
      state.isFinding = true
      this.#background.own(this.#find(state, receiver))
      return
    }
    if (state.origin !== receiver.origin) this.#scheduler.leave(state)
    state.origin = receiver.origin
    this.#scheduler.wait(state)
    this.dispatchSoon()
  }

  async #find(state: SubscriptionState, receiver: Promise<Receiver>): Promise<void> {
    const failure = await receiver.then(() => undefined).catch((error: unknown) => ({ error }))
    state.isFinding = false
    if (!failure) return this.#keepUp(state)
    if (!isRefusedForNow(failure.error)) this.#options.onBug(failure.error)
    this.#wake(state, retryMs)
  }

  /** Looks for deliveries to start, also after `mayStart` was false. */
  readonly dispatchSoon = (): void => {
    if (this.#willDispatch || this.#isStopping) return
    this.#willDispatch = true
    setImmediate(() => {
      this.#willDispatch = false
      this.#dispatch()
    })
  }

  #dispatch(): void {
    const { room } = this.#yielding
    if (this.#isStopping || this.#options.mayStart?.() === false) return
    for (let started = 0; started < room; started += 1) {
      const taken = this.#scheduler.take()
      if (!taken) return
      this.#yielding.started()
      this.#begin(taken.queue, taken.slot)
    }
    if (room > 0) this.dispatchSoon()
  }

  #begin(state: SubscriptionState, slot: Slot): void {
    const receiver = this.#receivers.known(state.queue.subscription)
    const item = receiver?.origin === state.origin ? state.queue.take() : undefined
    if (item && receiver) {
      const unread = item.source || item.reading ? state.queue.unread(readAhead) : [item, ...state.queue.unread(0)]
      if (unread.length > 0) this.#attempts.readAhead(unread)
      this.#background.own(this.#attempt(state, item, slot, receiver))
    } else slot.release(undefined)
    if (state.queue.readyCount > 0) this.#enqueue(state)
  }

  /** Never rejects. */
  async #attempt(state: SubscriptionState, item: QueuedDelivery, slot: Slot, receiver: Receiver): Promise<void> {
    const ended = await this.#attempts.make(item, receiver)
    if (ended === 'interrupted') return slot.release(undefined)
    if (ended === 'unreadable') {
      slot.release(undefined)
      item.state = 'waiting'
      item.timer = this.#timers.set(retryMs, { state, item })
      return
    }
    slot.release(ended.attempt.failure?.code !== 'TIMEOUT')
    this.dispatchSoon()
    if (!(await this.#attempts.record(item, ended))) return
    const { dueAt } = ended.outcome
    state.queue.settle(item, item.isCancelled ? null : dueAt)
    // The cancellation may not be on disk.
    if (item.isCancelled && dueAt !== null) state.queue.expect({ dueAt, sequence: item.sequence })
    this.#keepUp(state)
  }
}

/** For a delivery, or for reading more of a queue from disk. */
type Due = { state: SubscriptionState; item: QueuedDelivery | undefined }

/** How long before it is due a delivery is read into memory. */
const lookaheadMs = 2_000
const wakeMsMin = 100
/** Queues that are taken over begin within this time: in all, and for each. */
const spreadMsMax = 4_000
const spreadMsEach = 20
const retryMs = 1_000
/** How many deliveries ahead the runs for their bodies are read. */
const readAhead = 128
