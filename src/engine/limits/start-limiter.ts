import type { Clock } from '../../domain/clock.ts'
import { AppError, StartSkipped } from '../../domain/errors.ts'
import type { TriggerInput } from '../../domain/run/input.ts'
import type { StartKind } from '../../domain/workflow/workflow.ts'
import type { StartLimits } from '../compile/start-limits.ts'
import { type Place, type Start, StartGroup, type Waiting } from './start-group.ts'

/** The outcomes of starts beyond the limits. */
export const startOutcomes = ['queued', 'skipped', 'refused', 'replaced'] as const
export type StartOutcome = (typeof startOutcomes)[number]
export type StartCounts = Record<StartOutcome, number>

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

/**
 * Applies the limits on starts: concurrency and rate, for each workflow and key. Memory is bounded: a key is forgotten
 * when nothing of it runs, waits or is in the window of the rate.
 */
export class StartLimiter {
  readonly #options: StartLimiterOptions
  /** By workflow and key. Those that were looked at last are at the end. */
  readonly #groups = new Map<string, StartGroup>()
  readonly #counts = new Map<string, StartCounts>()

  constructor(options: StartLimiterOptions) {
    this.#options = options
  }

  /** Keys in memory. */
  get size(): number {
    return this.#groups.size
  }

  /** The starts of a workflow beyond its limits, since this process started. */
  countsOf(workflowId: string): StartCounts {
    return this.#counts.get(workflowId) ?? { queued: 0, skipped: 0, refused: 0, replaced: 0 }
  }

  /** The runs of a workflow that have a place, and those that wait for one. */
  occupancyOf(workflowId: string): { running: number; waiting: number } {
    const own = [...this.#groupsOf(workflowId)]
    return {
      running: own.reduce((sum, { running }) => sum + running, 0),
      waiting: own.reduce((sum, { waiting }) => sum + waiting, 0),
    }
  }

  /**
   * A place for a new start, or one in the queue: then `granted` is called later. Throws `StartSkipped` or
   * WORKFLOW_LIMIT as the workflow's limits say.
   */
  admit(start: LimitedStart, limits: StartLimits, granted: Waiting['granted']): Entry {
    const group = this.#groupOf(start, limits)
    const place = group.enter(start)
    if (place) return { place }
    const { beyond, queueMax } = limits
    if (beyond === 'skip') {
      this.#count(start.workflowId, 'skipped')
      throw new StartSkipped()
    }
    if (beyond === 'refuse' || group.waiting >= queueMax) {
      this.#count(start.workflowId, 'refused')
      throw refusal(beyond === 'refuse' ? undefined : queueMax, group.retryAfterS)
    }
    this.#count(start.workflowId, 'queued')
    return wait(group, { start, granted })
  }

  /** The same for a run that was accepted before. It cannot be refused any more. */
  readmit(start: LimitedStart, limits: StartLimits, granted: Waiting['granted']): Entry {
    const group = this.#groupOf(start, limits)
    const place = group.enter(start)
    return place ? { place } : wait(group, { start, granted })
  }

  /** To be called when another version of a workflow may be active. */
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
        this.#count(workflowId, 'replaced')
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

  #count(workflowId: string, outcome: StartOutcome): void {
    const counts = this.#counts.get(workflowId) ?? this.countsOf(workflowId)
    counts[outcome] += 1
    this.#counts.set(workflowId, counts)
    this.#options.onOutcome?.(outcome)
  }
}

function wait(group: StartGroup, waiting: Waiting): Entry {
  group.wait(waiting)
  return { place: undefined, leave: () => group.leave(waiting) }
}

/** For runs that wait while the limits of their workflow are removed. */
const unlimited: StartLimits = {
  ...{ concurrency: Number.POSITIVE_INFINITY, rate: undefined, beyond: 'queue', queueMax: 0 },
  keyOf: () => '',
}

function refusal(queueMax: number | undefined, retryAfterS: number): AppError {
  const message =
    queueMax === undefined
      ? 'The workflow has reached its limits (limits.concurrency or limits.rate of its document). Try again later.'
      : `${queueMax} starts are waiting, the most that limits.queueMax of the workflow allows. Try again later.`
  return new AppError('WORKFLOW_LIMIT', message, { retryAfterS })
}
