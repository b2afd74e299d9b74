import type { Role } from '../domain/account/role.ts'

/** The part of the port that knows who is signed in. Tokens never come here, only their SHA-256. */
export interface SessionStore {
  /** By e-mail or id; undefined for an account that is not there, or has no password. */
  findPassword(idOrEmail: string): Promise<{ userId: string; passwordHash: string } | undefined>
  /** The account that the installation was made with. */
  findOwner(): Promise<SignedIn | undefined>

  /**
   * Forgets sessions that had ended, and the oldest of the account beyond `sessionsMax`. NOT_FOUND for no such account,
   * INVALID_CREDENTIALS for one that has another password by now than the one it was opened with.
   */
  createSession(session: NewSession): Promise<void>
  /** Also one that has ended. */
  findSession(hash: Uint8Array): Promise<SessionRow | undefined>
  /** False when there is none. */
  renewSession(hash: Uint8Array, expiresAt: number): Promise<boolean>
  /** False when there is none. */
  endSession(hash: Uint8Array): Promise<boolean>

  /** Ends all sessions of an account except one. */
  endSessions(userId: string, kept: Uint8Array | undefined): Promise<void>

  /** Replaces the account's earlier sign-in tokens. NOT_FOUND if the account does not exist. */
  createSignInToken(token: NewSignInToken): Promise<void>
  /**
   * Uses a token up and makes a session of it. The account's id; undefined for a token that is not there, or was made
   * before `madeAfter`.
   */
  redeemSignInToken(
    token: Uint8Array,
    madeAfter: number,
    session: Omit<NewSession, 'userId'>,
  ): Promise<string | undefined>
}

/** Sessions that one account may have. */
export const sessionsMax = 100

/** An account, and what it may do in which workspace. */
export type SignedIn = { userId: string; roles: Record<string, Role> }

/** `passwordHash`: of the password that it is opened with, if it is. */
export type NewSession = {
  hash: Uint8Array
  userId: string
  createdAt: number
  expiresAt: number
  passwordHash?: string
}

export type SessionRow = SignedIn & { createdAt: number; expiresAt: number }

export type NewSignInToken = { hash: Uint8Array; userId: string; createdAt: number }
