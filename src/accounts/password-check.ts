import type { Clock } from '../domain/clock.ts'
import { AppError } from '../domain/errors.ts'
import { forgetOldest } from '../domain/forget-oldest.ts'
import { networkOf } from '../domain/network.ts'
import type { SessionStore } from '../store/session-store.ts'
import { hashPassword, passwordCharsMax, passwordCharsMin, verifyPassword } from './passwords.ts'
import { RateLimiter, type RateWindow } from './rate-limit.ts'

export type PasswordCheckOptions = {
  findPassword: SessionStore['findPassword']
  clock: Clock
  /** The slow comparison with a hash. */
  verify?(password: string, hash: string): Promise<boolean>
}

/** `address`: the address of the client. */
export type SignInAttempt = { email: string; password: string; address: string }

export type CheckedPassword = { userId: string; passwordHash: string }

/** Attempts per minute for one account from one address. */
const attemptsPerPlace = 10
/** Attempts per minute from one address, for all accounts. */
const attemptsPerAddress = 30
/** Attempts per minute for one account, from all addresses that it never signed in from. */
const attemptsPerAccount = 100
/** Maximum number of remembered addresses with a successful sign-in, each with its account. */
const knownPlacesMax = 10_000
/** Concurrent hash computations. Each takes a processor for about 50 ms, and 64 MB. */
const hashesAtOnce = 2
const hashesWaitingMax = 20

/**
 * Checks passwords without revealing whether an account exists: an unknown account takes as long and gets the same
 * message as a wrong password. Attempts per minute are limited before anything is hashed, and so is the number of
 * concurrent hashes.
 *
 * An attacker must not be able to lock out the owner of an account. So the tightest limit applies to a place: one
 * account from one address. Separate limits per address, and per account from all addresses, stop attacks on many
 * accounts and from many addresses. They do not apply to a place with an earlier successful sign-in.
 */
export class PasswordCheck {
  readonly #findPassword: PasswordCheckOptions['findPassword']
  readonly #clock: Clock
  readonly #verify: NonNullable<PasswordCheckOptions['verify']>
  readonly #places: RateLimiter
  readonly #addresses: RateLimiter
  readonly #accounts: RateLimiter
  /** Places with a successful sign-in, latest last. */
  readonly #known = new Set<string>()
  readonly #turns = new Turns(hashesAtOnce, hashesWaitingMax)
  #decoy: Promise<string> | undefined

  constructor({ findPassword, clock, verify = verifyPassword }: PasswordCheckOptions) {
    this.#findPassword = findPassword
    this.#clock = clock
    this.#verify = verify
    this.#places = new RateLimiter({ clock })
    this.#addresses = new RateLimiter({ clock })
    this.#accounts = new RateLimiter({ clock })
  }

  /**
   * The account for this email (or id) and password, and the hash that was compared. Rejects with INVALID_CREDENTIALS,
   * RATE_LIMIT_EXCEEDED, or OVERLOADED when too many checks are waiting.
   */
  async check({ email, password, address }: SignInAttempt): Promise<CheckedPassword> {
    const account = email.toLowerCase()
    const network = networkOf(address)
    const place = `${network} ${account}`
    this.#assertAllowed(this.#places.take(place, attemptsPerPlace))
    if (!this.#known.has(place)) {
      this.#assertAllowed(this.#addresses.take(network, attemptsPerAddress))
      this.#assertAllowed(this.#accounts.take(account, attemptsPerAccount))
    }
    const [found, decoy] = await Promise.all([this.#findPassword(email), this.#decoyHash()])
    const isRight = await this.#turns.take(() => this.#verify(shortened(password), found?.passwordHash ?? decoy))
    if (found && isRight) {
      this.#know(place)
      return found
    }
    throw new AppError('INVALID_CREDENTIALS', 'The email or the password is wrong.')
  }

  /** The hash of a new password. Throws INVALID_INPUT when it is too short or too long. */
  async hash(password: string): Promise<string> {
    const message = passwordProblem(password)
    if (message) throw new AppError('INVALID_INPUT', message, { details: [{ path: 'password', message }] })
    return await this.#turns.take(() => hashPassword(password))
  }

  #know(place: string): void {
    this.#known.delete(place)
    this.#known.add(place)
    forgetOldest(this.#known, knownPlacesMax)
  }

  #assertAllowed({ allowed, resetAt }: RateWindow): void {
    if (allowed) return
    const retryAfterS = Math.max(1, Math.ceil((resetAt - this.#clock.now()) / 1000))
    throw new AppError('RATE_LIMIT_EXCEEDED', `Too many sign-in attempts. Try again in ${retryAfterS} s.`, {
      retryAfterS,
    })
  }

  /** The hash that is compared when the account does not exist. No password matches it. */
  #decoyHash(): Promise<string> {
    this.#decoy ??= this.#turns.take(() => hashPassword(crypto.randomUUID()))
    this.#decoy.catch(() => {
      this.#decoy = undefined
    })
    return this.#decoy
  }
}

/** Why a text cannot be a password; undefined when it can. */
export function passwordProblem(password: string): string | undefined {
  if (password.length < passwordCharsMin)
    return `The password is too short: use at least ${passwordCharsMin} characters.`
  return password.length > passwordCharsMax
    ? `The password is too long: use at most ${passwordCharsMax} characters.`
    : undefined
}

/** A text longer than any password is wrong, and must not cost more than another. */
function shortened(password: string): string {
  return password.slice(0, passwordCharsMax + 1)
}

/** Runs a few tasks at a time, in order of arrival. */
class Turns {
  readonly #atOnce: number
  readonly #waitingMax: number
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(atOnce: number, waitingMax: number) {
    this.#atOnce = atOnce
    this.#waitingMax = waitingMax
  }

  async take<Result>(task: () => Promise<Result>): Promise<Result> {
    if (this.#running >= this.#atOnce) {
      if (this.#waiting.length >= this.#waitingMax) {
        throw new AppError('OVERLOADED', 'Too many people are signing in. Try again in a moment.', { retryAfterS: 1 })
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    } else this.#running += 1
    try {
      return await task()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#running -= 1
    }
  }
}
