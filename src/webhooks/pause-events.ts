import type { NewPause, PauseContent, StoredPause } from '../domain/run/pause.ts'
import type { PauseEvent, PauseEventKind } from '../domain/webhook/run-event.ts'
import type { SubscriptionRow } from '../domain/webhook/subscription.ts'
import { type StartKind, triggerOf } from '../domain/workflow/workflow.ts'

export type PauseEventsOptions = {
  subscriptionsOf(workflowId: string): readonly SubscriptionRow[] | Promise<readonly SubscriptionRow[]>
  /** Decrypts the question of a pause. */
  open(sealed: Uint8Array, executionId: string): string
  /** Returns a function that removes the secrets of a workspace from texts. */
  hidingOf(workspaceId: string): Promise<(text: string) => string>
  now(): number
}

/** The run that pauses or continues. */
export type PausingRun = { executionId: string; workflowId: string; workspaceId: string; trigger: StartKind }

type Eventual = PauseEvent | undefined | Promise<PauseEvent | undefined>

/** Makes the webhook events about pauses: selects the subscriptions, and writes the content. */
export class PauseEvents {
  readonly #options: PauseEventsOptions

  constructor(options: PauseEventsOptions) {
    this.#options = options
  }

  /** The event for pauses that begin; undefined when no pause begins or nobody is notified. */
  readonly begun = (run: PausingRun, pauses: readonly NewPause[]): Eventual => {
    const begun = pauses.filter((pause) => !pause.isOpened && !('state' in pause))
    return this.#eventOf('paused', run, begun)
  }

  /** The event for pauses that have ended; undefined when none has ended or nobody is notified. */
  readonly ended = (run: PausingRun, pauses: readonly StoredPause[]): Eventual => {
    const ended = pauses.filter(
      ({ state, isAnnounced }) => !isAnnounced && (state === 'answered' || state === 'expired'),
    )
    return this.#eventOf('resumed', run, ended)
  }

  #eventOf(kind: PauseEventKind, run: PausingRun, pauses: readonly (NewPause | StoredPause)[]): Eventual {
    if (pauses.length === 0) return undefined
    const subscriptions = this.#options.subscriptionsOf(run.workflowId)
    const from = (rows: readonly SubscriptionRow[]) => {
      const recipients = rows.filter((row) => isRecipient(row, kind, run.trigger))
      return recipients.length === 0 ? undefined : this.#made(kind, run, pauses, recipients)
    }
    return subscriptions instanceof Promise ? subscriptions.then(from) : from(subscriptions)
  }

  async #made(
    kind: PauseEventKind,
    run: PausingRun,
    pauses: readonly (NewPause | StoredPause)[],
    recipients: readonly SubscriptionRow[],
  ): Promise<PauseEvent | undefined> {
    // A subscription does not receive pauses that ended before it existed.
    const since = Math.min(...recipients.map(({ createdAt }) => createdAt))
    const news = pauses.filter((pause) => !('endedAt' in pause) || (pause.endedAt ?? since) >= since)
    if (news.length === 0) return undefined
    const hide = await this.#options.hidingOf(run.workspaceId)
    return {
      ...{ sequence: 0, kind, at: this.#options.now() },
      paused: JSON.stringify(news.map((pause) => this.#factsOf(pause, run.executionId, hide))),
      contextIds: kind === 'resumed' ? news.map(({ contextId }) => contextId) : [],
      // Pause events have no output, trace, rate limits or usage.
      deliveries: recipients.map(({ number }) => ({ subscription: number, include: 0 })),
    }
  }

  /** The JSON of a pause, without its links: they are only for people who may answer. */
  #factsOf(pause: NewPause | StoredPause, executionId: string, hide: (text: string) => string) {
    const { contextId, blockId, blockName, kind, since, until, content } = pause
    const asked =
      kind === 'approval' && content
        ? (JSON.parse(this.#options.open(content, executionId)) as PauseContent)
        : undefined
    return {
      ...{ contextId, blockId, blockName: hide(blockName), kind, ...(asked && { title: hide(asked.title) }) },
      ...{ since: isoTime(since), until: until === null ? null : isoTime(until) },
      ...('endedAt' in pause && pause.endedAt !== null && { endedAt: isoTime(pause.endedAt), outcome: pause.state }),
    }
  }
}

function isRecipient({ active, events, triggerFilter }: SubscriptionRow, kind: PauseEventKind, trigger: StartKind) {
  return active && events.includes(kind) && (triggerFilter === null || triggerFilter.includes(triggerOf(trigger)))
}

const isoTime = (at: number) => new Date(at).toISOString()
