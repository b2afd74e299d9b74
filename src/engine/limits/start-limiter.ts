import type { Clock } from '../../domain/clock.ts'
import type { TriggerInput } from '../../domain/run/input.ts'
import type { StartKind } from '../../domain/workflow/workflow.ts'
import type { StartLimits } from '../compile/start-limits.ts'
import { StartCounter, type StartCounts, type StartOutcome } from './start-counter.ts'
import { type Place, type Start, StartGroup, type Waiting } from './start-group.ts'

/** A start of a workflow that has limits. */
export type LimitedStart = Start & { workflowId: string; trigger: StartKind; input: TriggerInput }

export type StartLimiterOptions = {
  clock: Pick<Clock, 'monotonic' | 'setTimer'>
  /** Cancels a running run. */
  cancel(executionId: string): void
  /** The limits of the active version, after it has changed. */
  limitsOf(workflowId: string): Promise<StartLimits | undefined>
  onOutcome?(outcome: StartOutcome): void
}

/** A start that has a place, or waits for one. */
export type Entry = { place: Place } | { place: undefined; leave(): void }

/** Applies the limits on starts: concurrency and rate, for each workflow and key. */
export interface Starts {
  /**
   * A place for a new start, or one in the queue: then `granted` is called later. Throws, or rejects with,
   * `StartSkipped` or WORKFLOW_LIMIT as the workflow's limits say.
   */
  admit(start: LimitedStart, limits: StartLimits, granted: Waiting['granted']): Entry | Promise<Entry>
  /** The same for a run that was accepted before. It cannot be refused any more. */
  readmit(start: LimitedStart, limits: StartLimits, granted: Waiting['granted']): Entry | Promise<Entry>
  /** To be called when another version of a workflow may be active. */
  changed(workflowId: string): Promise<void>
  /** The starts of a workflow beyond its limits, since this process started. */
  countsOf(workflowId: string): StartCounts
  /** The runs of a workflow in this process that have a place, and those that wait for one. */
  occupancyOf(workflowId: string): { running: number; waiting: number }
}

/**
 * The starts of a process that serves its installation alone, counted in memory. Memory is bounded: a key is forgotten
 * when nothing of it runs, waits or is in the window of the rate.
 */
export class StartLimiter implements Starts {
  readonly #options: StartLimiterOptions
  /** By workflow and key. Those that were looked at last are at the end. */
  readonly #groups = new Map<string, StartGroup>()
  readonly #counts: StartCounter

  constructor(options: StartLimiterOptions) {
    this.#options = options
    this.#counts = new StartCounter(options)
  }

  /** Keys in memory. */
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
    const place = group.enter(start)
    if (place) return { place }
    const { beyond, queueMax } = limits
    if (beyond === 'skip' || beyond === 'refuse' || group.waiting >= queueMax) {
      throw this.#counts.refused(start.workflowId, limits, group.retryAfterS)
    }
    this.#counts.add(start.workflowId, 'queued')
    return wait(group, { start, granted })
  }

  readmit(start: LimitedStart, limits: StartLimits, granted: Waiting['granted']): Entry {
    const group = this.#groupOf(start, limits)
    const place = group.enter(start)
    return place ? { place } : wait(group, { start, granted })
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

  /** Looks at the keys that were not looked at for the longest time. Each new key calls it, so they cannot pile up. */
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
  return { place: undefined, leave: () => group.leave(waiting) }
}

/** For runs that wait while the limits of their workflow are removed. */
export const unlimited: StartLimits = {
  ...{ concurrency: Number.POSITIVE_INFINITY, rate: undefined, beyond: 'queue', queueMax: 0, debounce: undefined },
  keyOf: () => '',
}
