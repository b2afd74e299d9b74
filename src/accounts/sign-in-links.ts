import type { Clock } from '../domain/clock.ts'
import type { Mailer } from '../domain/mail/mailer.ts'
import { signInMail } from '../domain/mail/service-mails.ts'
import type { Store } from '../store/store.ts'
import { RateLimiter, type RateWindow } from './rate-limit.ts'
import { askedLinkAgeMaxMs, hashToken, linkAgeMaxMs, newToken } from './sessions.ts'

export type SignInLinksOptions = {
  store: Pick<Store, 'findUser' | 'createSignInToken'>
  mailer: Mailer | undefined
  clock: Clock
  /** The public address of the service. */
  baseUrl(): string
  /** Called when a link could not be made. */
  onFailure(cause: unknown): void
}

/** Sends people a link that signs them in, so that they can set another password. */
export class SignInLinks {
  readonly #options: SignInLinksOptions
  readonly #accounts: RateLimiter
  readonly #networks: RateLimiter

  constructor(options: SignInLinksOptions) {
    this.#options = options
    const { clock } = options
    this.#accounts = new RateLimiter({ clock, windowMs: hourMs })
    this.#networks = new RateLimiter({ clock, windowMs: hourMs })
  }

  /** Whether the operator has set a mail server. */
  get areAvailable(): boolean {
    return this.#options.mailer !== undefined
  }

  /** Counts a request against its network. */
  take(network: string): RateWindow {
    return this.#networks.take(network, perNetwork)
  }

  /**
   * Sends a link if there is such an account. Returns nothing, and at once, so that neither the response nor its time
   * tells which accounts there are.
   */
  send(email: string): void {
    this.#send(email).catch(this.#options.onFailure)
  }

  async #send(email: string): Promise<void> {
    const { store, mailer, clock, baseUrl } = this.#options
    const user = email.includes('@') ? await store.findUser(email.trim()) : undefined
    // A new link replaces the previous one, so strangers must not ask for many.
    if (!mailer || !user || !this.#accounts.take(user.id, perAccount).allowed) return
    const token = newToken()
    // Anybody may ask for it, so it ends sooner than the link of an operator. Stores know only when a link begins.
    const createdAt = clock.now() - (linkAgeMaxMs - askedLinkAgeMaxMs)
    await store.createSignInToken({ hash: hashToken(token), userId: user.id, createdAt })
    const url = `${baseUrl().replace(/\/$/, '')}/sign-in?token=${token}`
    mailer.post(signInMail({ email: user.email, url, isNew: false, lifetime: 'an hour' }))
  }
}

const hourMs = 3_600_000
const perAccount = 3
const perNetwork = 20
