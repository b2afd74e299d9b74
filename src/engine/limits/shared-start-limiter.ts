import type { Clock, Timer } from '../../domain/clock.ts'
import type { SharedGroupAnswer, SharedGroupAsk } from '../../domain/run/shared-starts.ts'
import type { StartLimits } from '../compile/start-limits.ts'
import { type Asked, SharedGroup } from './shared-group.ts'
import { StartCounter, type StartCounts } from './start-counter.ts'
import type { Waiting } from './start-group.ts'
import { type Entry, type LimitedStart, type StartLimiterOptions, type Starts, unlimited } from './start-limiter.ts'

export type SharedStartLimiterOptions = StartLimiterOptions & {
  clock: Pick<Clock, 'setTimer'>
  exchange(asks: readonly SharedGroupAsk[]): Promise<SharedGroupAnswer[]>
}

/**
 * Applies the limits when several processes serve the installation: the store counts all starts and decides. A process
 * sends one request at a time to the store, with all starts since the previous one, so many starts cost few
 * transactions. While starts wait, the process repeats the request, because other processes may have released slots.
 */
export class SharedStartLimiter implements Starts {
  readonly #options: SharedStartLimiterOptions
  readonly #groups = new Map<string, SharedGroup>()
  /** Groups with changes that the store does not know yet. */
  readonly #dirty = new Set<SharedGroup>()
  /** Groups that ask again until they need no news. A request does not look at the others, which may be very many. */
  readonly #needing = new Set<SharedGroup>()
  readonly #counts: StartCounter
  #isAsking = false
  #timer: Timer | undefined
  #soon: Timer | undefined

  constructor(options: SharedStartLimiterOptions) {
    this.#options = options
    this.#counts = new StartCounter(options)
  }

  countsOf(workflowId: string): StartCounts {
    return this.#counts.of(workflowId)
  }

  occupancyOf(workflowId: string): { running: number; waiting: number } {
    const own = this.#groupsOf(workflowId)
    const sum = (member: 'running' | 'waiting') => own.reduce((total, group) => total + group[member], 0)
    return { running: sum('running'), waiting: sum('waiting') }
  }

  admit(start: LimitedStart, limits: StartLimits, granted: Waiting['granted']): Promise<Entry> {
    return this.#ask(start, limits, { start, granted, isNew: true })
  }

  readmit(start: LimitedStart, limits: StartLimits, granted: Waiting['granted']): Promise<Entry> {
    const group = this.#groupOf(start, limits)
    const waiting: Asked = { start, granted, isNew: false }
    group.wait(waiting)
    this.#isDirty(group)
    return Promise.resolve({ slot: undefined, leave: () => this.#leave(group, waiting) })
  }

  async changed(workflowId: string): Promise<void> {
    const waiting = this.#groupsOf(workflowId).filter((group) => group.waiting > 0)
    if (waiting.length === 0) return
    const limits = (await this.#options.limitsOf(workflowId)) ?? unlimited
    for (const group of waiting) {
      group.limits = limits
      this.#isDirty(group)
    }
  }

  #ask(start: LimitedStart, limits: StartLimits, asked: Asked): Promise<Entry> {
    const group = this.#groupOf(start, limits)
    const deferred = Promise.withResolvers<Entry>()
    group.ask({
      ...asked,
      answered: (slot, waiting) => {
        if (slot) return deferred.resolve({ slot })
        this.#counts.add(start.workflowId, 'queued')
        deferred.resolve({ slot: undefined, leave: () => this.#leave(group, waiting) })
      },
      refused: (retryAfterS) => deferred.reject(this.#counts.refused(start, limits, retryAfterS)),
      failed: deferred.reject,
    })
    this.#isDirty(group)
    return deferred.promise
  }

  #leave(group: SharedGroup, waiting: Asked): void {
    if (group.leave(waiting)) this.#isDirty(group)
  }

  #groupOf({ workflowId, trigger, input }: LimitedStart, limits: StartLimits): SharedGroup {
    const key = limits.keyOf(trigger, input)
    const name = `${workflowId} ${key}`
    let group = this.#groups.get(name)
    if (!group) {
      const own: SharedGroup = new SharedGroup({
        ...{ workflowId, key, limits },
        onRelease: () => (own.waiting > 0 ? this.#isDirty(own) : this.#isDirtySoon(own)),
        cancel: (executionId) => {
          this.#counts.add(workflowId, 'replaced')
          this.#options.cancel(executionId)
        },
      })
      group = own
      this.#groups.set(name, own)
    }
    group.limits = limits
    return group
  }

  #groupsOf(workflowId: string): SharedGroup[] {
    return [...this.#groups.values()].filter((group) => group.workflowId === workflowId)
  }

  #isDirty(group: SharedGroup): void {
    this.#dirty.add(group)
    this.#askNow()
  }

  #askNow(): void {
    if (this.#isAsking || this.#dirty.size === 0) return
    this.#isAsking = true
    // Starts of the same event-loop turn share one request.
    queueMicrotask(() => void this.#exchange())
  }

  /** Reports a slot that no start of this process waits for, with the next request or after `soonMs`. */
  #isDirtySoon(group: SharedGroup): void {
    this.#dirty.add(group)
    this.#soon ??= this.#options.clock.setTimer(soonMs, () => {
      this.#soon = undefined
      this.#askNow()
    })
  }

  async #exchange(): Promise<void> {
    while (this.#dirty.size > 0) {
      const groups = [...this.#dirty].slice(0, groupsMax)
      for (const group of groups) this.#dirty.delete(group)
      const asks = groups.map((group) => group.question())
      try {
        const answers = await this.#options.exchange(asks)
        for (const [index, group] of groups.entries()) group.answer(answers[index]!)
      } catch (error) {
        for (const group of groups) group.fail(error)
        // The store may have granted slots although its response was lost.
        for (const group of groups) group.isUncertain = true
      }
      for (const group of groups) this.#settle(group)
    }
    this.#isAsking = false
    this.#askLater()
  }

  /** Forgets a group without starts, and remembers one that must ask again. */
  #settle(group: SharedGroup): void {
    if (group.needsNews) this.#needing.add(group)
    else this.#needing.delete(group)
    const name = `${group.workflowId} ${group.key}`
    if (group.isEmpty && !this.#dirty.has(group) && this.#groups.get(name) === group) this.#groups.delete(name)
  }

  #askLater(): void {
    if (this.#timer || this.#needing.size === 0) return
    this.#timer = this.#options.clock.setTimer(askMs, () => {
      this.#timer = undefined
      for (const group of this.#needing) this.#isDirty(group)
      this.#askLater()
    })
  }
}

/** The most groups in one transaction. */
const groupsMax = 200
/** How long a release waits for another request to join. Other processes ask less often than this anyway. */
const soonMs = 20
/** How often to repeat the request while starts wait. */
const askMs = 100
