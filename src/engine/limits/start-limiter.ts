import type { Clock } from '../../domain/clock.ts'
import type { TriggerInput } from '../../domain/run/input.ts'
import type { StartKind } from '../../domain/workflow/workflow.ts'
import type { StartLimits } from '../compile/start-limits.ts'
import { type OnOutcome, StartCounter, type StartCounts } from './start-counter.ts'
import { type Slot, type Start, StartGroup, type Waiting } from './start-group.ts'

/** A start of a workflow that has limits. */
export type LimitedStart = Start & { workflowId: string; trigger: StartKind; input: TriggerInput }

export type StartLimiterOptions = {
  clock: Pick<Clock, 'monotonic' | 'setTimer'>
  /** Cancels a running run. */
  cancel(executionId: string): void
  /** The limits of the active version, after it has changed. */
  limitsOf(workflowId: string): Promise<StartLimits | undefined>
  onOutcome?: OnOutcome
}

/** The result of a start: it has a slot, or it waits for one and can leave the queue. */
export type Entry = { slot: Slot } | { slot: undefined; leave(): void }

/** Applies concurrency and rate to starts, for each workflow and key. */
export interface Starts {
  /**
   * Gives a new start a slot, or puts it into the queue and calls `granted` when it gets a slot. Throws or rejects with
   * `StartSkipped` or WORKFLOW_LIMIT, depending on `limits.beyond`.
   */
  admit(start: LimitedStart, limits: StartLimits, granted: Waiting['granted']): Entry | Promise<Entry>
  /** The same for a run that was accepted before, so it is never refused. */
  readmit(start: LimitedStart, limits: StartLimits, granted: Waiting['granted']): Entry | Promise<Entry>
  /** Call this when another version of a workflow may be active. */
  changed(workflowId: string): Promise<void>
  /** The number of starts over the limits of a workflow since this process started, by outcome. */
  countsOf(workflowId: string): StartCounts
  /** How many starts of a workflow in this process have a slot, and how many wait for one. */
  occupancyOf(workflowId: string): { running: number; waiting: number }
}

/**
 * Counts the starts in memory, for a process that serves its installation alone. The memory is bounded: a key is
 * forgotten when none of its starts runs, waits or is in the window of the rate.
 */
export class StartLimiter implements Starts {
  readonly #options: StartLimiterOptions
  /** By workflow and key. The groups that `#forgetSome` examined last are at the end. */
  readonly #groups = new Map<string, StartGroup>()
  readonly #counts: StartCounter

  constructor(options: StartLimiterOptions) {
    this.#options = options
    this.#counts = new StartCounter(options)
  }

  /** The number of keys in memory. */
  get size(): number {
    return this.#groups.size
  }

  countsOf(workflowId: string): StartCounts {
    return this.#counts.of(workflowId)
  }

  occupancyOf(workflowId: string): { running: number; waiting: number } {
    const own = [...this.#groupsOf(workflowId)]
    return {
      running: own.reduce((sum, { running }) => sum + running, 0),
      waiting: own.reduce((sum, { waiting }) => sum + waiting, 0),
    }
  }

  admit(start: LimitedStart, limits: StartLimits, granted: Waiting['granted']): Entry {
    const group = this.#groupOf(start, limits)
    const slot = group.enter(start)
    if (slot) return { slot }
    const { beyond, queueMax } = limits
    if (beyond === 'skip' || beyond === 'refuse' || group.waiting >= queueMax) {
      throw this.#counts.refused(start, limits, group.retryAfterS)
    }
    this.#counts.add(start.workflowId, 'queued')
    return wait(group, { start, granted })
  }

  readmit(start: LimitedStart, limits: StartLimits, granted: Waiting['granted']): Entry {
    const group = this.#groupOf(start, limits)
    const slot = group.enter(start)
    return slot ? { slot } : wait(group, { start, granted })
  }

  async changed(workflowId: string): Promise<void> {
    const waiting = [...this.#groupsOf(workflowId)].filter((group) => group.waiting > 0)
    if (waiting.length === 0) return
    const limits = (await this.#options.limitsOf(workflowId)) ?? unlimited
    for (const group of waiting) {
      group.limits = limits
      group.advance()
    }
  }

  #groupOf({ workflowId, trigger, input }: LimitedStart, limits: StartLimits): StartGroup {
    const name = `${workflowId} ${limits.keyOf(trigger, input)}`
    const known = this.#groups.get(name)
    if (known) {
      known.limits = limits
      return known
    }
    this.#forgetSome()
    const { clock, cancel } = this.#options
    const group = new StartGroup({
      clock,
      limits,
      cancel: (executionId) => {
        this.#counts.add(workflowId, 'replaced')
        cancel(executionId)
      },
      onIdle: () => {
        if (group.isEmpty) this.#groups.delete(name)
      },
    })
    this.#groups.set(name, group)
    return group
  }

  *#groupsOf(workflowId: string): Generator<StartGroup, void> {
    for (const [name, group] of this.#groups) if (name.startsWith(`${workflowId} `)) yield group
  }

  /** Forgets unused keys, beginning with those not examined for the longest time. Each new key examines two others. */
  #forgetSome(): void {
    let left = 2
    for (const [name, group] of this.#groups) {
      if (left === 0) return
      left -= 1
      this.#groups.delete(name)
      if (!group.isEmpty) this.#groups.set(name, group)
    }
  }
}

function wait(group: StartGroup, waiting: Waiting): Entry {
  group.wait(waiting)
  return { slot: undefined, leave: () => group.leave(waiting) }
}

/** The limits for waiting starts when a new version of their workflow has none. */
export const unlimited: StartLimits = {
  ...{ concurrency: Number.POSITIVE_INFINITY, rate: undefined, beyond: 'queue', queueMax: 0, debounce: undefined },
  keyOf: () => '',
}
