import { variableReference } from '../domain/account/environment.ts'
import type { Clock } from '../domain/clock.ts'
import { AppError, type ErrorDetail } from '../domain/errors.ts'
import { forgetOldest } from '../domain/forget-oldest.ts'
import { newId } from '../domain/ids.ts'
import {
  choicesIn,
  type NewSubscription,
  optionsOf,
  type Subscription,
  type SubscriptionPatch,
  type SubscriptionRow,
  secretContext,
} from '../domain/webhook/subscription.ts'
import type { Store } from '../store/store.ts'

export type SubscriptionsOptions = {
  store: Pick<Store, 'listSubscriptions' | 'createSubscription' | 'changeSubscription' | 'deleteSubscription'>
  seal(secret: string, context: string): Uint8Array
  /** The problem of a URL without variables, as a message for users. */
  urlProblem(url: string): string | undefined
  clock: Clock
  /** The number of workflows whose subscriptions are remembered. */
  workflowsMax?: number
}

/** The workflow that subscriptions belong to. */
export type WorkflowIds = { id: string; workspaceId: string }

/**
 * The webhook subscriptions of workflows. They are checked and sealed when they are saved, and kept in memory for the
 * runs that end. What was read stays valid until `forget`, which follows each change, also one of another process.
 */
export class Subscriptions {
  readonly #options: SubscriptionsOptions
  readonly #workflowsMax: number
  readonly #known = new Map<string, readonly SubscriptionRow[]>()
  readonly #reading = new Map<string, Promise<readonly SubscriptionRow[]>>()

  constructor(options: SubscriptionsOptions) {
    this.#options = options
    this.#workflowsMax = options.workflowsMax ?? 10_000
  }

  /** The subscriptions of a workflow, oldest first; synchronous when they are in memory. */
  readonly of = (workflowId: string): readonly SubscriptionRow[] | Promise<readonly SubscriptionRow[]> => {
    return this.#known.get(workflowId) ?? this.#reading.get(workflowId) ?? this.#read(workflowId)
  }

  /**
   * Reads the subscriptions of a workflow that is about to run. Ignores a failure: it shows again when the run ends.
   */
  preload(workflowId: string): void {
    Promise.resolve(this.of(workflowId)).catch(() => undefined)
  }

  /** Call it after a change. A read in progress may hold the old state and is not kept. */
  readonly forget = (workflowId: string): void => {
    this.#known.delete(workflowId)
    this.#reading.delete(workflowId)
  }

  /** Call it when any subscription may have changed. */
  forgetAll(): void {
    this.#known.clear()
    this.#reading.clear()
  }

  /** Finds problems in the subscriptions of a document, beyond their shape. */
  findProblems(webhooks: readonly Subscription[]): ErrorDetail[] {
    return webhooks.flatMap(({ url }, index) => this.#urlDetails(`webhooks[${index}].url`, url))
  }

  /** The subscriptions of a document as they are stored. One without an `id` gets a new one. */
  prepare(workspaceId: string, webhooks: readonly Subscription[]): NewSubscription[] {
    return webhooks.map((webhook) => this.#prepare(workspaceId, webhook))
  }

  async create(workflow: WorkflowIds, subscription: Subscription): Promise<SubscriptionRow> {
    this.#assertUrl(subscription.url)
    const { store, clock } = this.#options
    const row = this.#prepare(workflow.workspaceId, subscription)
    return this.changing(workflow.id, () => store.createSubscription(workflow.id, row, clock.now()))
  }

  /** Changes the given members. Throws NOT_FOUND when there is no such subscription. */
  async change(workflow: WorkflowIds, id: string, patch: SubscriptionPatch): Promise<SubscriptionRow> {
    if (patch.url !== undefined) this.#assertUrl(patch.url)
    const { store, clock } = this.#options
    const change = { ...choicesIn(patch), ...this.#sealed(workflow.workspaceId, id, patch.secret) }
    return this.changing(workflow.id, () => store.changeSubscription(workflow.id, id, change, clock.now()))
  }

  /** Sets a new secret; the old one stays valid for `keepMs`. Throws NOT_FOUND when there is no such subscription. */
  async rotate(workflow: WorkflowIds, id: string, secret: string, keepMs: number): Promise<SubscriptionRow> {
    const { store, clock, seal } = this.#options
    const at = clock.now()
    const change = {
      secret: seal(secret, secretContext(workflow.workspaceId, id)),
      ...(keepMs > 0 ? { keepSecretUntil: at + keepMs } : {}),
    }
    return this.changing(workflow.id, () => store.changeSubscription(workflow.id, id, change, at))
  }

  /** Throws NOT_FOUND when there is no such subscription. */
  async delete(workflowId: string, id: string): Promise<void> {
    const { store, clock } = this.#options
    const found = await this.changing(workflowId, () => store.deleteSubscription(workflowId, id, clock.now()))
    if (!found) throw notFound()
  }

  /** Throws NOT_FOUND when there is no such subscription. */
  async find(workflowId: string, id: string): Promise<SubscriptionRow> {
    const found = (await this.of(workflowId)).find((row) => row.id === id)
    if (!found) throw notFound()
    return found
  }

  /** Changes a workflow's subscriptions and forgets what was read of them, even if the change fails. */
  async changing<Result>(workflowId: string, change: () => Promise<Result>): Promise<Result> {
    try {
      return await change()
    } finally {
      this.forget(workflowId)
    }
  }

  #prepare(workspaceId: string, { id = newId(), ...subscription }: Subscription): NewSubscription {
    return { id, ...optionsOf(subscription), ...this.#sealed(workspaceId, id, subscription.secret) }
  }

  #sealed(workspaceId: string, id: string, secret: string | null | undefined): { secret?: Uint8Array | null } {
    if (secret === undefined) return {}
    return { secret: secret === null ? null : this.#options.seal(secret, secretContext(workspaceId, id)) }
  }

  #assertUrl(url: string): void {
    const details = this.#urlDetails('url', url)
    const [first] = details
    if (first)
      throw new AppError('INVALID_INPUT', `The webhook subscription cannot be saved: ${first.message}`, { details })
  }

  #urlDetails(path: string, url: string): ErrorDetail[] {
    const problem = templateProblem(url, this.#options.urlProblem)
    return problem === undefined ? [] : [{ path, message: `${path}: ${problem}.`.replace(/\.+$/, '.') }]
  }

  #read(workflowId: string): Promise<readonly SubscriptionRow[]> {
    const reading = this.#options.store
      .listSubscriptions(workflowId)
      .then((rows) => {
        if (this.#reading.get(workflowId) === reading) this.#keep(workflowId, rows)
        return rows
      })
      .finally(() => {
        if (this.#reading.get(workflowId) === reading) this.#reading.delete(workflowId)
      })
    this.#reading.set(workflowId, reading)
    return reading
  }

  /** The oldest is forgotten first, used or not: it costs one query to read it again. */
  #keep(workflowId: string, rows: readonly SubscriptionRow[]): void {
    this.#known.set(workflowId, rows.length === 0 ? none : rows)
    forgetOldest(this.#known, this.#workflowsMax)
  }
}

const none: readonly SubscriptionRow[] = Object.freeze([])

/**
 * A URL that begins with a variable is checked only when it is called, because the variable may hold anything. If a
 * variable is part of the host or port, only the scheme is checked now.
 */
export function templateProblem(url: string, urlProblem: (url: string) => string | undefined): string | undefined {
  if (url.search(variableReference) === 0) return undefined
  const [origin = ''] = /^[^:/?#]+:\/\/[^/?#]*/.exec(url) ?? []
  const known = origin.search(variableReference) === -1 ? url : `${origin.split('://', 1)[0]}://host/`
  return urlProblem(known.replaceAll(variableReference, 'x'))
}

function notFound(): AppError {
  return new AppError('NOT_FOUND', 'The workflow has no webhook subscription with this ID.')
}
