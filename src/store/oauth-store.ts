import type { Role } from '../domain/account/role.ts'

/**
 * The part of the port for MCP clients that people signed in with their account. The store never gets codes or tokens,
 * only their SHA-256 hashes.
 */
export interface OAuthStore {
  /** Registers a client. Also deletes the oldest unused ones beyond `unusedClientsMax`. */
  createOAuthClient(client: NewOAuthClient): Promise<void>
  findOAuthClient(id: string): Promise<OAuthClientRow | undefined>

  /**
   * Also deletes expired grants of the account, and its oldest ones beyond `grantsMax`. NOT_FOUND when the client does
   * not exist, or the account is no member of the workspace.
   */
  createOAuthGrant(grant: NewOAuthGrant): Promise<void>
  /** Replaces the code or refresh token of a grant, in one step. A reused one ends the grant. */
  exchangeOAuthToken(exchange: OAuthExchange): Promise<OAuthExchanged>
  /** Also finds an expired token. `role` is the current one; null when the account is no longer a member. */
  findOAuthToken(access: Uint8Array): Promise<OAuthTokenRow | undefined>
  /** The grant with an ID, for requests of the installation to itself. */
  findOAuthGrant(id: string): Promise<OAuthTokenRow | undefined>
  /** The grants of an account that are in use, newest first. */
  listOAuthGrants(userId: string, at: number): Promise<OAuthGrantRow[]>
  /** False when the account has none with this ID. */
  endOAuthGrant(userId: string, id: string): Promise<boolean>
  /** Ends the grant of a token of a client. `hash`: of its access token, or of its family. */
  revokeOAuthToken(clientId: string, hash: Uint8Array): Promise<boolean>
  /** Ignores a use within a minute of the recorded one. */
  recordOAuthUses(uses: readonly { keyId: string; at: number }[]): Promise<void>
  /**
   * Deletes some grants that have expired at `at`, and some clients without a grant that are older than `kept`. Returns
   * how many; 0: none are left.
   */
  deleteStaleOAuth(at: number, kept: KeptClients): Promise<number>
}

/** The maximum number of grants per account. */
export const grantsMax = 100
/** The maximum number of clients that nobody has signed in. */
export const unusedClientsMax = 2_000

/** How many grants, and how many clients, are deleted at once. */
export const staleOAuthMax = 500

export type NewOAuthClient = { id: string; name: string; redirectUris: readonly string[]; createdAt: number }

/** The oldest clients to keep: unused ones by their registration, others by their last sign-in. */
export type KeptClients = { unusedSince: number; usedSince: number }

export type OAuthClientRow = NewOAuthClient

/**
 * `family`: the part that the code and all refresh tokens of the grant share. `current`: of the code. `challenge`: of
 * PKCE. `expiresAt`: of the code.
 */
export type NewOAuthGrant = {
  id: string
  family: Uint8Array
  current: Uint8Array
  clientId: string
  userId: string
  workspaceId: string
  redirectUri: string
  challenge: string
  resource: string
  createdAt: number
  expiresAt: number
}

/** `code`: what the client must repeat from its request. Without it, the token is a refresh token. */
export type OAuthExchange = {
  family: Uint8Array
  presented: Uint8Array
  clientId: string
  /** Undefined when the client did not name one. */
  resource: string | undefined
  code?: { redirectUri: string; challenge: string }
  next: { current: Uint8Array; access: Uint8Array; accessExpiresAt: number; expiresAt: number }
  at: number
  /** A refresh token that was replaced after this time gives the same tokens again. */
  repeatableAfter: number
}

/**
 * `unknown`: there is no such code or token, or it has expired. `refused`: it belongs to another request. `reused`: it
 * was used before, so the grant has ended. `elsewhere`: it is for another resource.
 */
export type OAuthExchanged =
  | { outcome: 'given'; accessExpiresAt: number }
  | { outcome: 'unknown' | 'refused' | 'reused' | 'elsewhere' }

export type OAuthTokenRow = {
  grantId: string
  clientName: string
  userId: string
  workspaceId: string
  role: Role | null
  createdAt: number
  accessExpiresAt: number
}

export type OAuthGrantRow = {
  id: string
  clientName: string
  redirectUri: string
  workspaceId: string
  workspaceName: string
  role: Role | null
  createdAt: number
  lastUsedAt: number | null
}
