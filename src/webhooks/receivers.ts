import type { Environment } from '../domain/account/environment.ts'
import type { Clock } from '../domain/clock.ts'
import { messageOf } from '../domain/errors.ts'
import { forgetOldest } from '../domain/forget-oldest.ts'
import { redactText } from '../domain/redaction/redactor.ts'
import type { AttemptFailure } from '../domain/webhook/delivery.ts'
import { type SubscriptionRow, secretContext } from '../domain/webhook/subscription.ts'
import type { Store } from '../store/store.ts'

export type ReceiversOptions = {
  /** Those of a workflow that are not deleted, as they are now. */
  subscriptionsOf(workflowId: string): readonly SubscriptionRow[] | Promise<readonly SubscriptionRow[]>
  environmentOf(workspaceId: string): Environment | Promise<Environment>
  openSecret(sealed: Uint8Array, context: string): string
  store: Pick<Store, 'getSubscriptions'>
  clock: Pick<Clock, 'now'>
}

/** Where a subscription's deliveries go now, with everything filled in. */
export type Receiver = {
  url: string
  /** What attempts are counted by. */
  host: string
  /** Those to sign with. */
  secrets: readonly string[]
  retriesNetworkErrors: boolean
  /** Why nothing can be sent there. */
  problem: AttemptFailure | undefined
  /** A text without the secrets of the workspace. */
  redact(text: string): string
}

/**
 * Receivers of subscriptions, made once and again after a change of the subscription or of a variable. Each holds secrets as
 * they are, and what it was made of: whoever has asked `of` for it says when to `forget` it.
 */
export class Receivers {
  readonly #options: ReceiversOptions
  readonly #known = new Map<number, Known>()
  /** Of whom subscriptions are; that never changes. The one that came first goes first: it costs one look-up to have it back. */
  readonly #owners = new Map<number, Owner>()

  constructor(options: ReceiversOptions) {
    this.#options = options
  }

  /** The receiver of a subscription, by its number; at once when all that it takes is in memory. */
  of(subscription: number): Receiver | Promise<Receiver> {
    return this.known(subscription) ?? this.#remember(subscription)
  }

  /** Undefined when it is not remembered, or may have changed since. */
  known(subscription: number): Receiver | undefined {
    const known = this.#known.get(subscription)
    if (!known || this.#options.clock.now() >= known.until) return undefined
    const rows = atOnce(this.#options.subscriptionsOf(known.owner.workflowId))
    const environment = atOnce(this.#options.environmentOf(known.owner.workspaceId))
    return rows === known.rows && environment === known.environment ? known.receiver : undefined
  }

  forget(subscription: number): void {
    this.#known.delete(subscription)
  }

  /** The same as `of`, and nothing of it is remembered. */
  async once(subscription: number): Promise<Receiver> {
    return (await this.#make(subscription)).receiver
  }

  async #remember(subscription: number): Promise<Receiver> {
    const made = await this.#make(subscription)
    this.#known.set(subscription, made)
    return made.receiver
  }

  async #make(subscription: number): Promise<Known> {
    const { subscriptionsOf, store, environmentOf, clock } = this.#options
    const owner = this.#owners.get(subscription) ?? (await this.#findOwner(subscription))
    const rows = await subscriptionsOf(owner.workflowId)
    const row = rows.find(({ number }) => number === subscription) ?? (await store.getSubscriptions([subscription]))[0]
    const environment = await environmentOf(owner.workspaceId)
    if (!row) throw new Error(`There is no subscription ${subscription}`)
    const receiver = this.#receiverOf(row, environment)
    const { previousSecretUntil } = row
    const until = previousSecretUntil !== null && previousSecretUntil > clock.now() ? previousSecretUntil : null
    return { owner, rows, environment, until: until ?? Number.POSITIVE_INFINITY, receiver }
  }

  async #findOwner(subscription: number): Promise<Owner> {
    const [row] = await this.#options.store.getSubscriptions([subscription])
    if (!row) throw new Error(`There is no subscription ${subscription}`)
    const owner = { workflowId: row.workflowId, workspaceId: row.workspaceId }
    this.#owners.set(subscription, owner)
    forgetOldest(this.#owners, ownersMax)
    return owner
  }

  #receiverOf(row: SubscriptionRow, environment: Environment): Receiver {
    const { redactor } = environment
    const redact = redactor ? (text: string) => redactText(text, redactor) : (text: string) => text
    const base = { secrets: [], retriesNetworkErrors: row.retryOnNetworkError, redact }
    try {
      const url = filled(row.url, environment)
      const secrets = this.#secretsOf(row).map((secret) => filled(secret, environment))
      // What is no URL is refused where it is sent, with words of its own.
      const host = URL.parse(url)?.hostname ?? ''
      return { ...base, url, host, secrets, problem: undefined }
    } catch (error) {
      return { ...base, url: row.url, host: '', problem: { code: 'NOT_SENDABLE', message: messageOf(error) } }
    }
  }

  /** The one before the last rotation first, as long as it is good. */
  #secretsOf({ workspaceId, id, secret, previousSecret, previousSecretUntil }: SubscriptionRow): string[] {
    const isGood = previousSecretUntil !== null && previousSecretUntil > this.#options.clock.now()
    return [isGood ? previousSecret : null, secret].flatMap((sealed) =>
      sealed === null ? [] : [this.#options.openSecret(sealed, secretContext(workspaceId, id))],
    )
  }
}

type Owner = Pick<SubscriptionRow, 'workflowId' | 'workspaceId'>
type Known = {
  owner: Owner
  rows: readonly SubscriptionRow[]
  environment: Environment
  /** Epoch milliseconds. */
  until: number
  receiver: Receiver
}

const ownersMax = 10_000

/** Undefined for what is still being read; whoever needs it asks again, and hears of a failure then. */
function atOnce<Value>(value: Value | Promise<Value>): Value | undefined {
  if (!(value instanceof Promise)) return value
  value.catch(() => {})
  return undefined
}

function filled(text: string, { values }: Environment): string {
  return text.replace(/\{\{([A-Za-z_][A-Za-z0-9_]*)\}\}/g, (_, name: string) => {
    const value = values.get(name)
    if (value === undefined) throw new Error(`The environment variable ${name} is not set`)
    return value
  })
}
