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
  /** How long an unused session lasts. */
  idleDays: number
  /** Whether sign-in is off and every visitor is the owner. */
  open: boolean
}

/** A new session. `token` is known only to the client. */
export type OpenedSession = { token: string; userId: string; expiresAt: number }

/**
 * Signed-in sessions. A session ended here stops immediately; one ended by another process stops within 5 s (see
 * `FreshCache`). A session expires when it is unused for some days. Each use extends it; the extension is written in
 * the background, at most once a minute per session.
 */
export class Sessions {
  readonly #store: SessionsOptions['store']
  readonly #clock: Clock
  readonly #idleMs: number
  readonly #rows: FreshCache<SessionRow>
  readonly #owner: FreshCache<SignedIn>
  readonly #renewing = new Set<Promise<unknown>>()
  /** Whether sign-in is off. */
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

  /** Returns undefined when the text is not a valid session token. */
  async find(token: string): Promise<SessionRow | undefined> {
    if (!isTokenShaped(token)) return undefined
    const row = await this.#rows.get(digestOf(token))
    return row && row.expiresAt > this.#clock.now() ? row : undefined
  }

  /** The account of visitors when sign-in is off; undefined when it is required. */
  async visitor(): Promise<SignedIn | undefined> {
    return this.isOpen ? await this.#owner.get('owner') : undefined
  }

  /** Rejects with INVALID_CREDENTIALS, RATE_LIMIT_EXCEEDED or OVERLOADED. */
  async signIn(attempt: SignInAttempt): Promise<OpenedSession> {
    const { userId, passwordHash } = await this.#passwords.check(attempt)
    const token = newToken()
    const session = this.#sessionOf(token)
    // The password may have been changed in the meantime, because somebody else knew it.
    await this.#store.createSession({ ...session, userId, passwordHash })
    return { token, userId, expiresAt: session.expiresAt }
  }

  /** Redeems a sign-in link. Returns undefined when it was used, has expired, or never existed. */
  async redeem(link: string): Promise<OpenedSession | undefined> {
    if (!isTokenShaped(link)) return undefined
    const token = newToken()
    const session = this.#sessionOf(token)
    const madeAfter = session.createdAt - linkAgeMaxMs
    const userId = await this.#store.redeemSignInToken(hashToken(link), madeAfter, session)
    return userId === undefined ? undefined : { token, userId, expiresAt: session.expiresAt }
  }

  /**
   * Records a use. Returns the new expiry when it changed, so that the cookie can be updated; then undefined for a
   * minute.
   */
  renew(token: string): number | undefined {
    const digest = digestOf(token)
    const row = this.#rows.known(digest)
    const expiresAt = this.#clock.now() + this.#idleMs
    if (row === undefined || expiresAt - row.expiresAt < minuteMs) return undefined
    // The cached row may be changed: the next look-up finds the same value on disk.
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
      this.#rows.invalidate(digestOf(token))
    }
  }

  /** Rejects like `signIn` when the password is wrong. */
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

  /** Changes the password, and does what `endOthers` does. Throws INVALID_INPUT for an invalid password. */
  async setPassword(change: { userId: string; password: string; keptToken: string | undefined }): Promise<void> {
    const { userId, password, keptToken } = change
    const hash = await this.#passwords.hash(password)
    try {
      await this.#store.setPassword(userId, hash, keptToken === undefined ? undefined : hashToken(keptToken))
    } finally {
      this.invalidate(userId)
    }
  }

  /** Ends all other sessions of an account, and disconnects its applications. */
  async endOthers(userId: string, keptToken: string | undefined): Promise<void> {
    try {
      await this.#store.endSessions(userId, keptToken === undefined ? undefined : hashToken(keptToken))
    } finally {
      this.invalidate(userId)
    }
  }

  /** Drops the cached sessions of an account after they ended or its roles changed. */
  invalidate(userId: string): void {
    for (const [digest, row] of this.#rows.entries()) if (row.userId === userId) this.#rows.invalidate(digest)
    this.#owner.invalidate('owner')
  }

  /** Waits for writes in progress. */
  async stop(): Promise<void> {
    await Promise.all(this.#renewing)
  }

  #sessionOf(token: string) {
    const createdAt = this.#clock.now()
    return { hash: hashToken(token), createdAt, expiresAt: createdAt + this.#idleMs }
  }
}

/** 256 random bits for a cookie or link. */
export function newToken(): string {
  return crypto.getRandomValues(new Uint8Array(tokenBytes)).toBase64({ alphabet: 'base64url', omitPadding: true })
}

/** The stored hash of a token. A token has 256 random bits, so one round without salt is enough. */
export function hashToken(token: string): Uint8Array {
  return Bun.SHA256.hash(token) as Uint8Array
}

/** The lifetime of a sign-in link that an operator makes. */
export const linkAgeMaxMs = 7 * 86_400_000
/** The lifetime of a link that a visitor asks for. */
export const askedLinkAgeMaxMs = 3_600_000

const tokenBytes = 32
const minuteMs = 60_000
const dayMs = 86_400_000

function isTokenShaped(text: string): boolean {
  return /^[\w-]{43}$/.test(text)
}

function digestOf(token: string): string {
  return Bun.SHA256.hash(token, 'base64')
}
