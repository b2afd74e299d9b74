import type { RateKind, Tier, TierName, Tiers } from '../domain/account/tiers.ts'
import type { Clock } from '../domain/clock.ts'
import { AppError } from '../domain/errors.ts'
import { networkOf } from '../domain/network.ts'
import type { RateWindowRow, UserRow } from '../store/account-store.ts'
import { FreshCache } from './fresh-cache.ts'
import { RateLimiter, type RateWindow } from './rate-limit.ts'
import type { RateWindowPersistence } from './rate-window-persistence.ts'
import { tierOf } from './tiers.ts'
import type { Usage } from './usage.ts'

/**
 * The account that limits are counted for, with its current tier. Do not keep it: the tier may differ at the next
 * request.
 */
export type LimitedAccount = { readonly userId: string; readonly tier: Tier }

export type AccountLimitsOptions = {
  findUser(userId: string): Promise<UserRow | undefined>
  tiers: Tiers
  /** The tier of accounts without their own. */
  tier: TierName
  usage: Usage
  windowPersistence: RateWindowPersistence
  visitors: VisitorLimits
  /** Windows that were open when the service stopped. */
  windows: readonly RateWindowRow[]
  /**
   * Called for each rejected request. `address`: the request had no valid key. `visitor`: it needed no key.
   */
  onRefused?(kind: RateKind | 'address' | 'visitor'): void
  clock: Clock
}

/** Requests a minute from one network: to one chat, to one form, and to one webhook trigger without authentication. */
export type VisitorLimits = { chatPerMinute: number; webhookPerMinute: number; formPerMinute: number }

export type RateState = { limit: number; remaining: number; resetAt: number }

/** The limits object of the external API. Times are epoch milliseconds. */
export type LimitsReport = {
  workflowExecutionRateLimit: { sync: RateState; async: RateState }
  usage: { currentPeriodCost: number; limit: number; plan: string; isExceeded: boolean }
}

/** Requests per minute without a valid key from one address. */
const refusedPerMinute = 60
/** How many wrong passwords a minute one address may send to one chat or form. */
const wrongPasswordsPerMinute = 20

/** Unknown e-mail addresses an hour that one account may try to add to its workspaces. */
const unknownEmailsPerHour = 10

/** Alerts by e-mail that one workspace may send in an hour, and tests of them: strangers may be their recipients. */
const alertMailsPerHour = 60
const alertMailTestsPerHour = 10

/** The limits of accounts: rate windows of each kind, and the monthly cost. */
export class AccountLimits {
  readonly #accounts: FreshCache<LimitedAccount>
  readonly #usage: Usage
  readonly #limiters: Readonly<Record<RateKind, RateLimiter>>
  readonly #refused: RateLimiter
  readonly #wrongPasswords: RateLimiter
  readonly #unknownEmails: RateLimiter
  readonly #alertMails: RateLimiter
  readonly #alertMailTests: RateLimiter
  readonly #chatVisitors: RateLimiter
  readonly #formVisitors: RateLimiter
  readonly #webhookVisitors: RateLimiter
  readonly #visitors: VisitorLimits
  readonly #onRefused: AccountLimitsOptions['onRefused']

  constructor(options: AccountLimitsOptions) {
    const { findUser, tiers, tier, usage, windowPersistence, windows, visitors, onRefused, clock } = options
    const ask = async (userId: string): Promise<LimitedAccount | undefined> => {
      const user = await findUser(userId)
      return user && { userId, tier: tierOf(user, tier, tiers) }
    }
    this.#accounts = new FreshCache({ ask, clock })
    this.#usage = usage
    this.#onRefused = onRefused
    const limiter = (kind: RateKind) => new RateLimiter({ clock, changed: windowPersistence.of(kind) })
    this.#limiters = { external: limiter('external'), sync: limiter('sync'), async: limiter('async') }
    // Kept in memory only, so that requests without a key cannot cause writes.
    this.#refused = new RateLimiter({ clock })
    this.#wrongPasswords = new RateLimiter({ clock })
    this.#unknownEmails = new RateLimiter({ clock, windowMs: 3_600_000 })
    this.#alertMails = new RateLimiter({ clock, windowMs: 3_600_000 })
    this.#alertMailTests = new RateLimiter({ clock, windowMs: 3_600_000 })
    this.#chatVisitors = new RateLimiter({ clock })
    this.#formVisitors = new RateLimiter({ clock })
    this.#webhookVisitors = new RateLimiter({ clock })
    this.#visitors = visitors
    for (const { kind, userId, ...window } of windows) this.#limiters[kind].restore(userId, window)
  }

  /**
   * Loads everything that an account's limits need. Returns without a promise when it is in memory, which costs two
   * look-ups. A change of tier applies within 5 s. Rejects with the errors of the store.
   */
  account(userId: string): LimitedAccount | Promise<LimitedAccount> {
    const account = this.#accounts.known(userId)
    if (account !== undefined && this.#usage.known(userId) !== undefined) return account
    return this.#load(userId)
  }

  /** Counts a request. */
  take(kind: RateKind, account: LimitedAccount): RateWindow {
    return this.#reported(kind, this.#limiters[kind].take(account.userId, account.tier[limitNames[kind]]))
  }

  /** The result of `take` without counting a request. */
  peek(kind: RateKind, account: LimitedAccount): RateWindow {
    return this.#limiters[kind].peek(account.userId, account.tier[limitNames[kind]])
  }

  /** Counts a request without a valid key against its source address. */
  takeRefused(address: string): RateWindow {
    return this.#reported('address', this.#refused.take(networkOf(address), refusedPerMinute))
  }

  peekRefused(address: string): RateWindow {
    return this.#refused.peek(networkOf(address), refusedPerMinute)
  }

  /** Counts a wrong password. `who`: the chat or form and the address it came from. */
  takeWrongPassword(who: string): RateWindow {
    return this.#wrongPasswords.take(who, wrongPasswordsPerMinute)
  }

  peekWrongPassword(who: string): RateWindow {
    return this.#wrongPasswords.peek(who, wrongPasswordsPerMinute)
  }

  /** Counts an e-mail address without an account that an owner tried to add. */
  takeUnknownEmail(userId: string): RateWindow {
    return this.#unknownEmails.take(userId, unknownEmailsPerHour)
  }

  peekUnknownEmail(userId: string): RateWindow {
    return this.#unknownEmails.peek(userId, unknownEmailsPerHour)
  }

  /** Counts an alert by e-mail, which the mail server of the operator sends. */
  takeAlertMail(workspaceId: string): RateWindow {
    return this.#alertMails.take(workspaceId, alertMailsPerHour)
  }

  /** Counts a test of an alert by e-mail. */
  takeAlertMailTest(workspaceId: string): RateWindow {
    return this.#alertMailTests.take(workspaceId, alertMailTestsPerHour)
  }

  /** Counts a message from a visitor to a chat. */
  takeChatVisitor(workflowId: string, network: string): RateWindow {
    return this.#reported('visitor', this.#chatVisitors.take(`${workflowId} ${network}`, this.#visitors.chatPerMinute))
  }

  /** Counts a request from a visitor to a webhook trigger. */
  takeWebhookVisitor(workflowId: string, network: string): RateWindow {
    const window = this.#webhookVisitors.take(`${workflowId} ${network}`, this.#visitors.webhookPerMinute)
    return this.#reported('visitor', window)
  }

  /** Counts a form from a visitor. */
  takeFormVisitor(workflowId: string, network: string): RateWindow {
    return this.#reported('visitor', this.#formVisitors.take(`${workflowId} ${network}`, this.#visitors.formPerMinute))
  }

  /** Loads accounts that are needed soon. A failure is ignored: the account is loaded again when it is needed. */
  preload(userIds: Iterable<string>): void {
    for (const userId of userIds) Promise.resolve(this.account(userId)).catch(() => undefined)
  }

  isWithinUsage({ userId, tier }: LimitedAccount): boolean {
    return (this.#usage.known(userId) ?? 0) < tier.usdPerMonth
  }

  /** Throws USAGE_LIMIT_EXCEEDED when the account has reached its monthly limit. */
  assertWithinUsage(account: LimitedAccount): void {
    if (this.isWithinUsage(account)) return
    const { usdPerMonth, name } = account.tier
    throw new AppError(
      'USAGE_LIMIT_EXCEEDED',
      `The account has reached the limit of its tier (${name}): ${usdPerMonth} USD a month. ` +
        'Wait for the next month, or ask the administrator for a higher tier.',
    )
  }

  async report(userId: string): Promise<LimitsReport> {
    const account = await this.account(userId)
    const { usdPerMonth, name } = account.tier
    const currentPeriodCost = await this.#usage.of(userId)
    return {
      workflowExecutionRateLimit: {
        sync: stateOf(this.peek('sync', account)),
        async: stateOf(this.peek('async', account)),
      },
      usage: {
        currentPeriodCost,
        limit: usdPerMonth,
        plan: name,
        isExceeded: currentPeriodCost >= usdPerMonth,
      },
    }
  }

  #reported(kind: RateKind | 'address' | 'visitor', window: RateWindow): RateWindow {
    if (!window.allowed) this.#onRefused?.(kind)
    return window
  }

  async #load(userId: string): Promise<LimitedAccount> {
    const [account] = await Promise.all([this.#accounts.get(userId), this.#usage.of(userId)])
    if (account) return account
    throw new Error(`Account ${userId} does not exist, although a key or a workspace refers to it`)
  }
}

const limitNames = {
  external: 'externalPerMinute',
  sync: 'syncPerMinute',
  async: 'asyncPerMinute',
} as const satisfies Record<RateKind, keyof Tier>

function stateOf({ limit, remaining, resetAt }: RateWindow): RateState {
  return { limit, remaining, resetAt }
}
