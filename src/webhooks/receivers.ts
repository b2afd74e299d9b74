import type { Environment } from '../domain/account/environment.ts'
import { alertOf, isAlertReceiver } from '../domain/alert/alert.ts'
import type { Clock } from '../domain/clock.ts'
import { messageOf } from '../domain/errors.ts'
import { forgetOldest } from '../domain/forget-oldest.ts'
import { redactText } from '../domain/redaction/redactor.ts'
import type { AttemptFailure } from '../domain/webhook/delivery.ts'
import { type SubscriptionRow, secretContext } from '../domain/webhook/subscription.ts'
import type { Store } from '../store/store.ts'

export type ReceiversOptions = {
  /** The current subscriptions of a workflow, without deleted ones. */
  subscriptionsOf(workflowId: string): readonly SubscriptionRow[] | Promise<readonly SubscriptionRow[]>
  environmentOf(workspaceId: string): Environment | Promise<Environment>
  openSecret(sealed: Uint8Array, context: string): string
  store: Pick<Store, 'getSubscriptions' | 'findAlerts'>
  clock: Pick<Clock, 'now'>
}

/** Where a subscription's deliveries go now, with all variables filled in. */
export type Receiver = {
  url: string
  /** The addresses of an alert by e-mail, and its workspace; absent for a webhook. */
  mail?: { to: readonly string[]; workspaceId: string }
  /** Scheme, host name and port, by which concurrent attempts are counted; empty when the URL is invalid. */
  origin: string
  /** The secrets to sign with. */
  secrets: readonly string[]
  retriesNetworkErrors: boolean
  /** Why nothing can be sent. */
  problem: AttemptFailure | undefined
  /** Removes the secrets of the workspace from a text. */
  redact(text: string): string
}

/**
 * Makes the receivers of subscriptions, and makes one again after a change of its subscription or of a variable. A
 * receiver holds secrets in plain text, so a caller of `of` must call `forget` when it no longer needs the receiver.
 * Nothing tells this class about changes of alerts, so it reads them again after some seconds.
 */
export class Receivers {
  readonly #options: ReceiversOptions
  readonly #known = new Map<number, Known>()
  /**
   * The owners of subscriptions, which never change. The oldest is forgotten first; it costs one query to read it
   * again.
   */
  readonly #owners = new Map<number, Owner>()

  constructor(options: ReceiversOptions) {
    this.#options = options
  }

  /** The receiver of a subscription, by its number; synchronous when everything it needs is in memory. */
  of(subscription: number): Receiver | Promise<Receiver> {
    return this.known(subscription) ?? this.#remember(subscription)
  }

  /** Undefined when it is not in memory, or may have changed. */
  known(subscription: number): Receiver | undefined {
    const known = this.#known.get(subscription)
    if (!known || this.#options.clock.now() >= known.until) return undefined
    const isAlert = isAlertReceiver(subscription)
    const rows = isAlert ? known.rows : atOnce(this.#options.subscriptionsOf(known.owner.workflowId))
    const environment = atOnce(this.#options.environmentOf(known.owner.workspaceId))
    return rows === known.rows && environment === known.environment ? known.receiver : undefined
  }

  forget(subscription: number): void {
    this.#known.delete(subscription)
  }

  /** Like `of`, but the receiver is not remembered. */
  async once(subscription: number): Promise<Receiver> {
    return (await this.#make(subscription)).receiver
  }

  async #remember(subscription: number): Promise<Receiver> {
    const made = await this.#make(subscription)
    this.#known.set(subscription, made)
    return made.receiver
  }

  async #make(subscription: number): Promise<Known> {
    if (isAlertReceiver(subscription)) return this.#makeForAlert(subscription)
    const { subscriptionsOf, store, environmentOf, clock } = this.#options
    const owner = this.#owners.get(subscription) ?? (await this.#findOwner(subscription))
    const rows = await subscriptionsOf(owner.workflowId)
    const row = rows.find(({ number }) => number === subscription) ?? (await store.getSubscriptions([subscription]))[0]
    const environment = await environmentOf(owner.workspaceId)
    if (!row) throw new Error(`The subscription ${subscription} does not exist`)
    const receiver = this.#receiverOf(row, environment)
    const { previousSecretUntil } = row
    const until = previousSecretUntil !== null && previousSecretUntil > clock.now() ? previousSecretUntil : null
    return { owner, rows, environment, until: until ?? Number.POSITIVE_INFINITY, receiver }
  }

  async #makeForAlert(number: number): Promise<Known> {
    const { store, environmentOf, clock } = this.#options
    const [alert] = await store.findAlerts([alertOf(number)])
    if (!alert) throw new Error(`The alert of the receiver ${number} does not exist`)
    const { id, workspaceId, channel } = alert
    const environment = await environmentOf(workspaceId)
    const known = { owner: { workflowId: '', workspaceId }, rows: [], environment, until: clock.now() + alertMsMax }
    if (channel.type === 'email')
      return { ...known, receiver: this.#mailReceiver({ to: channel.to, workspaceId }, environment) }
    const previous = { previousSecret: null, previousSecretUntil: null }
    const row = { ...channel, ...previous, id, workspaceId, retryOnNetworkError: true }
    return { ...known, receiver: this.#receiverOf(row, environment) }
  }

  async #findOwner(subscription: number): Promise<Owner> {
    const [row] = await this.#options.store.getSubscriptions([subscription])
    if (!row) throw new Error(`The subscription ${subscription} does not exist`)
    const owner = { workflowId: row.workflowId, workspaceId: row.workspaceId }
    this.#owners.set(subscription, owner)
    forgetOldest(this.#owners, ownersMax)
    return owner
  }

  #mailReceiver(mail: Receiver['mail'] & {}, environment: Environment): Receiver {
    const base = { secrets: [], retriesNetworkErrors: true, redact: redactionOf(environment), problem: undefined }
    return { ...base, url: '', origin: 'mailto:', mail }
  }

  #receiverOf(row: Sendable, environment: Environment): Receiver {
    const base = { secrets: [], retriesNetworkErrors: row.retryOnNetworkError, redact: redactionOf(environment) }
    try {
      const url = filled(row.url, environment)
      const secrets = this.#secretsOf(row).map((secret) => filled(secret, environment))
      // An invalid URL is refused when it is called, with a message of its own.
      const origin = URL.parse(url)?.origin ?? ''
      return { ...base, url, origin, secrets, problem: undefined }
    } catch (error) {
      return { ...base, url: row.url, origin: '', problem: { code: 'NOT_SENDABLE', message: messageOf(error) } }
    }
  }

  /** The previous secret, while it is still valid, and then the current one. */
  #secretsOf({ workspaceId, id, secret, previousSecret, previousSecretUntil }: Sendable): string[] {
    const isGood = previousSecretUntil !== null && previousSecretUntil > this.#options.clock.now()
    return [isGood ? previousSecret : null, secret].flatMap((sealed) =>
      sealed === null ? [] : [this.#options.openSecret(sealed, secretContext(workspaceId, id))],
    )
  }
}

/** The parts of a subscription, or of an alert, that deliveries need. */
type Sendable = Pick<
  SubscriptionRow,
  'workspaceId' | 'id' | 'url' | 'secret' | 'previousSecret' | 'previousSecretUntil' | 'retryOnNetworkError'
>
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
/** How long a changed alert may still be sent to its former address. */
const alertMsMax = 5_000

/** Undefined while the value is being read. Callers that need it ask again and get a failure then. */
function atOnce<Value>(value: Value | Promise<Value>): Value | undefined {
  if (!(value instanceof Promise)) return value
  value.catch(() => {})
  return undefined
}

function redactionOf({ redactor }: Environment): Receiver['redact'] {
  return redactor ? (text) => redactText(text, redactor) : (text) => text
}

function filled(text: string, { values }: Environment): string {
  return text.replace(/\{\{([A-Za-z_][A-Za-z0-9_]*)\}\}/g, (_, name: string) => {
    const value = values.get(name)
    if (value === undefined) throw new Error(`The environment variable ${name} is not set`)
    return value
  })
}
