import { alertBounds } from '../domain/alert/alert.ts'
import type { FiringContent } from '../domain/alert/evaluation.ts'
import type { Clock } from '../domain/clock.ts'
import { AppError, isRefusedForNow, StartSkipped } from '../domain/errors.ts'
import type { EventClaim } from '../domain/run/claim.ts'
import type { TriggerInput } from '../domain/run/input.ts'
import type { EventStart } from '../store/alerts/alert-store.ts'
import type { Store } from '../store/store.ts'

/** The request for a run that an event starts: an asynchronous run of the active version. */
export type EventRequest = {
  workflowId: string
  workspaceId: string
  version: number
  trigger: 'event'
  input: TriggerInput
  executionId: string
}

export type EventStartsOptions<Account> = {
  store: Pick<Store, 'listEventStarts' | 'dropEventStart'>
  limits: {
    account(ownerId: string): Account | Promise<Account>
    isWithinUsage(account: Account): boolean
    take(kind: 'async', account: Account): { allowed: boolean }
  }
  /** Accepts the run and takes its start in one commit; `job` is undefined when it was taken before. */
  accept(request: EventRequest, claim: EventClaim): Promise<{ job: { executionId: string } | undefined }>
  /** Waits until the events so far are stored. */
  eventsNoted(): Promise<void>
  clock: Pick<Clock, 'now'>
  /** A run was given up. */
  onDropped(start: EventStart, reason: string): void
}

/**
 * Starts the runs of event triggers that have fired. They count as asynchronous runs of the workspace's owner. A start
 * that the limits do not allow now waits for a later turn, for an hour at most. Each turn looks at the starts after
 * those of the previous one, so that many starts that wait do not keep those of others from their turn.
 */
export class EventStarts<Account> {
  readonly #options: EventStartsOptions<Account>
  /** The last sequence of the previous turn; 0: the next turn begins with the oldest start. */
  #after = 0
  /** By workflow whose own limits have refused a start: until when its other starts wait. */
  readonly #waitUntil = new Map<string, number>()

  constructor(options: EventStartsOptions<Account>) {
    this.#options = options
  }

  /** Rejects with the errors of the store. */
  readonly run = async (): Promise<void> => {
    const { store, clock } = this.#options
    const now = clock.now()
    for (const [workflowId, until] of this.#waitUntil) if (until <= now) this.#waitUntil.delete(workflowId)
    const fullOwners = new Set<string>()
    const starts = await store.listEventStarts(startsMax, this.#after)
    for (const start of starts) {
      const refused = await this.#start(start, fullOwners)
      if (refused === 'busy') return
      if (refused !== undefined) await this.#giveUp(start, refused)
    }
    this.#after = starts.length < startsMax ? 0 : starts.at(-1)!.sequence
  }

  /**
   * Undefined when it is started or waits; `busy` when nothing more can be started now. `fullOwners`: owners whose
   * limits have refused a start in this turn.
   */
  async #start(start: EventStart, fullOwners: Set<string>): Promise<string | undefined> {
    const { limits, accept, clock } = this.#options
    const { sequence, workflowId, workspaceId, ownerId, version, executionId } = start
    if (version === null) return 'the workflow is no longer deployed'
    const late =
      clock.now() - start.at > alertBounds.startMsMax ? 'the limits have allowed no run for an hour' : undefined
    const owner = await limits.account(ownerId)
    if (!limits.isWithinUsage(owner)) return "the owner's usage limit for the month is used up"
    // Asking the limits again counts as another request, and would use up those of the owner.
    if (fullOwners.has(ownerId) || this.#waitUntil.has(workflowId)) return late
    if (!limits.take('async', owner).allowed) {
      fullOwners.add(ownerId)
      return late
    }
    const request = { workflowId, workspaceId, version, trigger: 'event' as const, input: inputOf(start), executionId }
    try {
      const { job } = await accept(request, { kind: 'event', sequence })
      // A debounced start joins an earlier run, so no write has taken it yet.
      return job && job.executionId !== executionId ? 'the run has joined an earlier one' : undefined
    } catch (error) {
      if (error instanceof StartSkipped) return 'the limits of the workflow skip it'
      if (error instanceof AppError && error.code === 'WORKFLOW_LIMIT') {
        this.#waitUntil.set(workflowId, clock.now() + fullMs)
        return late
      }
      if (isRefusedForNow(error)) return late ?? 'busy'
      throw error
    }
  }

  async #giveUp(start: EventStart, reason: string): Promise<void> {
    // The store keeps the causes of a start that an event names, until that event is evaluated.
    await this.#options.eventsNoted()
    await this.#options.store.dropEventStart(start.sequence)
    this.#options.onDropped(start, reason)
  }
}

/** The blocks read its members as `<event.type>` and so on. */
function inputOf({ content }: EventStart): TriggerInput {
  return { input: {}, fields: eventFields(JSON.parse(content) as FiringContent) }
}

export function eventFields(content: FiringContent): Record<string, unknown> {
  const { type, workflowId, workflowName, executionId, error, rule, measured, suppressed, at } = content
  return { type, workflowId, workflowName, executionId, error, rule, measured, suppressed, at }
}

/** Starts in one turn. */
const startsMax = 200
/** How long the starts of a workflow wait when its limits have refused one. */
const fullMs = 10_000
