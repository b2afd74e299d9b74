import { type AlertChange, type NewChannel, quietMsDefault } from '../domain/alert/alert.ts'
import { type AlertPatch, type NewAlertBody, type SentChannel, watchProblem } from '../domain/alert/alert-body.ts'
import type { Clock } from '../domain/clock.ts'
import { AppError, problemsError } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import { mailAddressProblem } from '../domain/mail/mail-address.ts'
import { secretContext } from '../domain/webhook/subscription.ts'
import type { ListedAlert } from '../store/alerts/alert-store.ts'
import type { Store } from '../store/store.ts'

export type AlertsOptions = {
  store: Pick<Store, 'listAlerts' | 'getAlert' | 'createAlert' | 'changeAlert' | 'deleteAlert'>
  seal(secret: string, context: string): Uint8Array
  /** The problem of a URL, which may contain variables, as a message for users. */
  urlProblem(url: string): string | undefined
  /** Whether the service can send e-mail. */
  sendsMail: boolean
  clock: Pick<Clock, 'now'>
  /** Called after each change. */
  onChange(): void
}

/** The alerts of workspaces, as people set them. */
export class Alerts {
  readonly #options: AlertsOptions

  constructor(options: AlertsOptions) {
    this.#options = options
  }

  list(workspaceId: string): Promise<ListedAlert[]> {
    return this.#options.store.listAlerts(workspaceId)
  }

  /** Throws NOT_FOUND when there is no such alert. */
  async get(workspaceId: string, id: string): Promise<ListedAlert> {
    const found = await this.#options.store.getAlert(workspaceId, id)
    if (!found) throw notFound()
    return found
  }

  /** Throws INVALID_INPUT for an alert that can never fire or be sent. */
  async create(workspaceId: string, body: NewAlertBody, by: string): Promise<ListedAlert> {
    const { name, events = [], workflows, rule = null, quietMs = quietMsDefault, channel, active = true } = body
    this.#assertWorks({ events, rule, channel })
    const { store, clock } = this.#options
    const id = newId()
    const sealed = this.#sealed(workspaceId, id, channel)
    const whole = sealed.type === 'email' ? sealed : { ...sealed, secret: sealed.secret ?? null }
    const watch = { events, workflows, rule, quietMs }
    const created = { id, workspaceId, name, ...watch, channel: whole, active, at: clock.now(), by }
    return await this.#changing(() => store.createAlert(created))
  }

  /** Changes the given members. Throws NOT_FOUND when there is no such alert. */
  async change(workspaceId: string, id: string, patch: AlertPatch): Promise<ListedAlert> {
    const before = await this.get(workspaceId, id)
    const { channel, ...rest } = patch
    const { events = before.events, rule = before.rule } = patch
    this.#assertWorks({ events, rule, ...(channel && { channel }) })
    const { store, clock } = this.#options
    const change: AlertChange = { ...rest, ...(channel && { channel: this.#sealed(workspaceId, id, channel) }) }
    return await this.#changing(() => store.changeAlert(workspaceId, id, change, clock.now()))
  }

  /** Throws NOT_FOUND when there is no such alert. */
  async delete(workspaceId: string, id: string): Promise<void> {
    const { store, clock } = this.#options
    if (!(await this.#changing(() => store.deleteAlert(workspaceId, id, clock.now())))) throw notFound()
  }

  async #changing<Result>(change: () => Promise<Result>): Promise<Result> {
    try {
      return await change()
    } finally {
      this.#options.onChange()
    }
  }

  #assertWorks({
    events,
    rule,
    channel,
  }: Pick<NewAlertBody, 'rule'> & { events: readonly string[]; channel?: SentChannel }) {
    const problems = [watchProblem(events, rule ?? null) ?? [], channel ? this.#channelProblem(channel) : []].flat()
    if (problems.length > 0) throw problemsError('INVALID_INPUT', problems)
  }

  #channelProblem(channel: SentChannel) {
    const { sendsMail, urlProblem } = this.#options
    if (channel.type === 'email') {
      const problem = channel.to.map(mailAddressProblem).find((each) => each !== undefined)
      if (sendsMail) return problem === undefined ? [] : [{ path: 'channel.to', message: problem }]
      const message =
        'This service cannot send e-mail: MILLRACE_SMTP_URL is not set. Use a webhook, or ask the operator to set it.'
      return [{ path: 'channel.type', message }]
    }
    const problem = urlProblem(channel.url)
    return problem === undefined ? [] : [{ path: 'channel.url', message: problem }]
  }

  #sealed(workspaceId: string, id: string, channel: SentChannel): NewChannel {
    if (channel.type === 'email') return channel
    const { secret } = channel
    if (typeof secret !== 'string') return { ...channel, secret } as NewChannel
    return { ...channel, secret: this.#options.seal(secret, secretContext(workspaceId, id)) }
  }
}

function notFound(): AppError {
  return new AppError('NOT_FOUND', 'The workspace has no such alert.')
}
