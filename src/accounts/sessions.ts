import type { Clock } from '../domain/clock.ts'
import type { SessionRow, SignedIn } from '../store/session-store.ts'
import type { Store } from '../store/store.ts'
import { FreshCache } from './fresh-cache.ts'
import { PasswordCheck, type SignInAttempt } from './password-check.ts'

export type SessionsOptions = {
  store: Pick<
    Store,
    | 'findPassword'
    | 'setPassword'
    | 'findOwner'
    | 'createSession'
    | 'findSession'
    | 'renewSession'
    | 'endSession'
    | 'endSessions'
    | 'redeemSignInToken'
  >
  clock: Clock
  /** How long a session lasts after it was last used. */
  idleDays: number
  /** Whether nobody has to sign in: every visitor is the owner. */
  open: boolean
}

/** A session for the one who opened it: `token` is known to nobody else. */
export type OpenedSession = { token: string; userId: string; expiresAt: number }

/**
 * Who is signed in, as fresh as `FreshCache` keeps it: a session that another process ended stops within 5 s, one that was
 * ended here at once. A session ends when it was not used for some days; a use moves that end, which is written down in the
 * background, at most once a minute a session.
 */
export class Sessions {
  readonly #store: SessionsOptions['store']
  readonly #clock: Clock
  readonly #idleMs: number
  readonly #rows: FreshCache<SessionRow>
  readonly #owner: FreshCache<SignedIn>
  readonly #renewing = new Set<Promise<unknown>>()
  /** Whether nobody has to sign in. */
  readonly isOpen: boolean
  readonly #passwords: PasswordCheck

  constructor({ store, clock, idleDays, open }: SessionsOptions) {
    this.#store = store
    this.#clock = clock
    this.#idleMs = idleDays * dayMs
    this.isOpen = open
    this.#passwords = new PasswordCheck({ findPassword: (email) => store.findPassword(email), clock })
    this.#rows = new FreshCache({ ask: (digest) => store.findSession(Uint8Array.fromBase64(digest)), clock })
    this.#owner = new FreshCache({ ask: () => store.findOwner(), clock, entriesMax: 1 })
  }

  /** Undefined for a text that is no session, or was one. */
  async find(token: string): Promise<SignedIn | undefined> {
    if (!isTokenShaped(token)) return undefined
    const row = await this.#rows.get(digestOf(token))
    return row && row.expiresAt > this.#clock.now() ? row : undefined
  }

  /** The account that everybody is who does not sign in; undefined when one has to. */
  async visitor(): Promise<SignedIn | undefined> {
    return this.isOpen ? await this.#owner.get('owner') : undefined
  }

  /** Rejects with INVALID_CREDENTIALS, RATE_LIMIT_EXCEEDED or OVERLOADED. */
  async signIn(attempt: SignInAttempt): Promise<OpenedSession> {
    const { userId, passwordHash } = await this.#passwords.check(attempt)
    const token = newToken()
    const session = this.#sessionOf(token)
    // The password may have been changed while it was compared, because somebody else knew it.
    await this.#store.createSession({ ...session, userId, passwordHash })
    return { token, userId, expiresAt: session.expiresAt }
  }

  /** Uses a sign-in link up. Undefined for one that was used, is too old, or never was one. */
  async redeem(link: string): Promise<OpenedSession | undefined> {
    if (!isTokenShaped(link)) return undefined
    const token = newToken()
    const session = this.#sessionOf(token)
    const madeAfter = session.createdAt - linkAgeMaxMs
    const userId = await this.#store.redeemSignInToken(hashToken(link), madeAfter, session)
    return userId === undefined ? undefined : { token, userId, expiresAt: session.expiresAt }
  }

  /** Notes a use. The new end when it was moved, so that the cookie can be told; undefined a minute long after that. */
  renew(token: string): number | undefined {
    const digest = digestOf(token)
    const row = this.#rows.known(digest)
    const expiresAt = this.#clock.now() + this.#idleMs
    if (row === undefined || expiresAt - row.expiresAt < minuteMs) return undefined
    // What is in memory is ours to change; the next look-up finds the same on disk.
    row.expiresAt = expiresAt
    const renewing = this.#store.renewSession(hashToken(token), expiresAt).catch(() => undefined)
    this.#renewing.add(renewing)
    void renewing.finally(() => this.#renewing.delete(renewing))
    return expiresAt
  }

  async end(token: string): Promise<void> {
    try {
      if (isTokenShaped(token)) await this.#store.endSession(hashToken(token))
    } finally {
      this.#rows.distrust(digestOf(token))
    }
  }

  /** Rejects like `signIn` when it is not the password of the account. */
  async assertPassword({
    userId,
    password,
    address,
  }: {
    userId: string
    password: string
    address: string
  }): Promise<void> {
    await this.#passwords.check({ email: userId, password, address })
  }

  /** Ends all sessions of the account but one. INVALID_INPUT when it is no password. */
  async setPassword(change: { userId: string; password: string; keptToken: string | undefined }): Promise<void> {
    const { userId, password, keptToken } = change
    const hash = await this.#passwords.hash(password)
    try {
      await this.#store.setPassword(userId, hash, keptToken === undefined ? undefined : hashToken(keptToken))
    } finally {
      this.distrust(userId)
    }
  }

  /** Ends all sessions of an account but one. */
  async endOthers(userId: string, keptToken: string | undefined): Promise<void> {
    try {
      await this.#store.endSessions(userId, keptToken === undefined ? undefined : hashToken(keptToken))
    } finally {
      this.distrust(userId)
    }
  }

  /** After sessions of an account were ended, or its roles have changed: whoever comes next is looked up again. */
  distrust(userId: string): void {
    for (const [digest, row] of this.#rows.entries()) if (row.userId === userId) this.#rows.distrust(digest)
    this.#owner.distrust('owner')
  }

  /** Waits for what is being written. */
  async stop(): Promise<void> {
    await Promise.all(this.#renewing)
  }

  #sessionOf(token: string) {
    const createdAt = this.#clock.now()
    return { hash: hashToken(token), createdAt, expiresAt: createdAt + this.#idleMs }
  }
}

/** 256 random bits, as they stand in a cookie or a link. */
export function newToken(): string {
  return crypto.getRandomValues(new Uint8Array(tokenBytes)).toBase64({ alphabet: 'base64url', omitPadding: true })
}

/** What is kept of a token. It holds 256 random bits, so one round without salt is enough. */
export function hashToken(token: string): Uint8Array {
  return Bun.SHA256.hash(token) as Uint8Array
}

/** How long a sign-in link can be used. */
export const linkAgeMaxMs = 7 * 86_400_000

const tokenBytes = 32
const minuteMs = 60_000
const dayMs = 86_400_000

function isTokenShaped(text: string): boolean {
  return /^[\w-]{43}$/.test(text)
}

function digestOf(token: string): string {
  return Bun.SHA256.hash(token, 'base64')
}
