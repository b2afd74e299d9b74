import type { Role } from '../domain/account/role.ts'

/** The part of the port for sign-in sessions. The store never gets tokens, only their SHA-256 hashes. */
export interface SessionStore {
  /** Finds an account by e-mail or ID; undefined when it does not exist or has no password. */
  findPassword(idOrEmail: string): Promise<{ userId: string; passwordHash: string } | undefined>
  /** The account that was created with the installation. */
  findOwner(): Promise<SignedIn | undefined>

  /**
   * Also deletes expired sessions, and the oldest sessions of the account beyond `sessionsMax`. NOT_FOUND when the
   * account does not exist, INVALID_CREDENTIALS when its password has changed since it was checked.
   */
  createSession(session: NewSession): Promise<void>
  /** Also finds an expired session. */
  findSession(hash: Uint8Array): Promise<SessionRow | undefined>
  /** False when there is none. */
  renewSession(hash: Uint8Array, expiresAt: number): Promise<boolean>
  /** False when there is none. */
  endSession(hash: Uint8Array): Promise<boolean>

  /**
   * Ends all sessions of an account except one. Also ends its grants to applications: a stolen session may have made
   * some.
   */
  endSessions(userId: string, kept: Uint8Array | undefined): Promise<void>

  /** Replaces the account's earlier sign-in tokens. NOT_FOUND if the account does not exist. */
  createSignInToken(token: NewSignInToken): Promise<void>
  /**
   * Consumes a sign-in token and creates a session. Returns the account's ID; undefined when the token does not exist
   * or was created before `madeAfter`.
   */
  redeemSignInToken(
    token: Uint8Array,
    madeAfter: number,
    session: Omit<NewSession, 'userId'>,
  ): Promise<string | undefined>
}

/** The maximum number of sessions per account. */
export const sessionsMax = 100

/** An account, and its role in each of its workspaces. */
export type SignedIn = { userId: string; roles: Record<string, Role> }

/** `passwordHash`: the hash of the password that was checked; absent for a sign-in without a password. */
export type NewSession = {
  hash: Uint8Array
  userId: string
  createdAt: number
  expiresAt: number
  passwordHash?: string
}

export type SessionRow = SignedIn & { createdAt: number; expiresAt: number }

export type NewSignInToken = { hash: Uint8Array; userId: string; createdAt: number }
