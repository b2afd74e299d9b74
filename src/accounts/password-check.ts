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
  /** What takes long. */
  verify?(password: string, hash: string): Promise<boolean>
}

/** `address`: where it comes from. */
export type SignInAttempt = { email: string; password: string; address: string }

export type CheckedPassword = { userId: string; passwordHash: string }

/** Attempts a minute for one account from one address. */
const attemptsPerPlace = 10
/** Attempts a minute from one address, at whatever account. */
const attemptsPerAddress = 30
/** Attempts a minute for one account, from all addresses that it never signed in from. */
const attemptsPerAccount = 100
/** Addresses that are remembered for having signed in, each with its account. */
const knownPlacesMax = 10_000
/** Hashes made at once: each takes a processor for some 50 ms, and 64 MB. */
const hashesAtOnce = 2
const hashesWaitingMax = 20

/**
 * Tells whether a password is right, and nothing else: an account that is not there takes as long and gets the same words
 * as a wrong password. Attempts are bounded by the minute before anything is hashed, and so is what hashing may use of the
 * machine.
 *
 * Whoever guesses must not keep the one who knows the password from signing in. So what is bounded closely is a place: one
 * account from one address. An address, and an account from everywhere, have bounds of their own, against those who guess at
 * many accounts and from many addresses; these do not hold for a place that somebody signed in from before.
 */
export class PasswordCheck {
  readonly #findPassword: PasswordCheckOptions['findPassword']
  readonly #clock: Clock
  readonly #verify: NonNullable<PasswordCheckOptions['verify']>
  readonly #places: RateLimiter
  readonly #addresses: RateLimiter
  readonly #accounts: RateLimiter
  /** Places that somebody signed in from, the latest last. */
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
   * The account whose e-mail (or id) and password these are, and the hash they were compared with. Rejects with INVALID_CREDENTIALS, RATE_LIMIT_EXCEEDED, or
   * OVERLOADED when too many hashes wait.
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
    throw new AppError('INVALID_CREDENTIALS', 'The e-mail or the password is wrong.')
  }

  /** The hash of a new password. INVALID_INPUT when it is too short or too long. */
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
    throw new AppError('RATE_LIMIT_EXCEEDED', `Too many attempts to sign in. Try again in ${retryAfterS} s.`, {
      retryAfterS,
    })
  }

  /** What is compared with when there is no account: the password of nobody. */
  #decoyHash(): Promise<string> {
    this.#decoy ??= this.#turns.take(() => hashPassword(crypto.randomUUID()))
    this.#decoy.catch(() => {
      this.#decoy = undefined
    })
    return this.#decoy
  }
}

/** What keeps a text from being a password; undefined when nothing does. */
export function passwordProblem(password: string): string | undefined {
  if (password.length < passwordCharsMin) return `A password has ${passwordCharsMin} characters or more.`
  return password.length > passwordCharsMax ? `A password has ${passwordCharsMax} characters at most.` : undefined
}

/** One that is longer than any password can be is wrong whatever it says, and costs no more than another. */
function shortened(password: string): string {
  return password.slice(0, passwordCharsMax + 1)
}

/** Lets a few tasks run at once, in the order in which they come. */
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
