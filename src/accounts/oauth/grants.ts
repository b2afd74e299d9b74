import type { Clock } from '../../domain/clock.ts'
import { newId } from '../../domain/ids.ts'
import type { KeyRow } from '../../store/account-store.ts'
import type { OAuthClientRow, OAuthExchanged, OAuthTokenRow } from '../../store/oauth-store.ts'
import type { Store } from '../../store/store.ts'
import { OAuthError } from './oauth-error.ts'
import { isRegistered, redirectProblem } from './redirect-uri.ts'
import { RegistrationLimits } from './registration-limits.ts'
import {
  challengeOf,
  familyOf,
  hashOf,
  isAccessToken,
  isCode,
  isOwnKey,
  isRefreshToken,
  type OAuthTokens,
} from './tokens.ts'

export type GrantsOptions = {
  store: Pick<
    Store,
    | 'createOAuthClient'
    | 'findOAuthClient'
    | 'createOAuthGrant'
    | 'exchangeOAuthToken'
    | 'findOAuthToken'
    | 'findOAuthGrant'
    | 'revokeOAuthToken'
  >
  tokens: OAuthTokens
  clock: Clock
  /** Called for each accepted access token. */
  used(grantId: string): void
}

export type NewGrant = {
  client: OAuthClientRow
  redirectUri: string
  challenge: string
  resource: string
  userId: string
  workspaceId: string
}

export type TokenRequest = { clientId: string; resource: string | undefined } & (
  | { code: string; verifier: string; redirectUri: string }
  | { refreshToken: string }
)

export type IssuedTokens = { accessToken: string; refreshToken: string; expiresInS: number }

/**
 * MCP clients with which people sign in. A client registers itself, and a grant allows it to act in one workspace with
 * the role that the account has there. Each request reads the grant from the store, so a token stops working at once
 * when it is revoked, or when the account loses its role.
 */
export class OAuthGrants {
  readonly #options: GrantsOptions
  /** Counts the calls of `register`, which needs no account. */
  readonly registrations: RegistrationLimits

  constructor(options: GrantsOptions) {
    this.#options = options
    this.registrations = new RegistrationLimits(options.clock)
  }

  async register({ name, redirectUris }: { name: string; redirectUris: readonly string[] }): Promise<OAuthClientRow> {
    for (const uri of redirectUris) {
      const problem = redirectProblem(uri)
      if (problem !== undefined) throw new OAuthError('invalid_redirect_uri', `${shortened(uri)} ${problem}.`)
    }
    const client = { id: newId(), name, redirectUris, createdAt: this.#options.clock.now() }
    await this.#options.store.createOAuthClient(client)
    return client
  }

  /** The client, if it may get codes at this address. */
  async findClient(id: string, redirectUri: string): Promise<OAuthClientRow> {
    const client = id.length > idCharsMax ? undefined : await this.#options.store.findOAuthClient(id)
    if (!client) {
      throw new OAuthError(
        'invalid_client',
        'This application is no longer registered here. Remove the server in the application, and add it again.',
      )
    }
    if (isRegistered(client.redirectUris, redirectUri)) return client
    const message = `The application did not register the address ${shortened(redirectUri)}, so it gets no access.`
    throw new OAuthError('invalid_redirect_uri', message)
  }

  /** Creates a grant, and returns the code for its first tokens. */
  async grant({ client, ...grant }: NewGrant): Promise<string> {
    const { store, tokens, clock } = this.#options
    const code = tokens.newCode()
    const createdAt = clock.now()
    await store.createOAuthGrant({
      ...{ ...grant, id: newId(), clientId: client.id, createdAt, expiresAt: createdAt + codeMs },
      ...{ family: hashOf(familyOf(code)), current: hashOf(code) },
    })
    return code
  }

  /** Tokens for a code or a refresh token. */
  async exchange(request: TokenRequest): Promise<IssuedTokens> {
    const { store, tokens, clock } = this.#options
    const isForCode = 'code' in request
    const presented = isForCode ? request.code : request.refreshToken
    if (!(isForCode ? isCode(presented) : isRefreshToken(presented))) throw refusalOf('unknown')
    const at = clock.now()
    const { refresh, access } = tokens.next(presented)
    const exchanged = await store.exchangeOAuthToken({
      ...{ family: hashOf(familyOf(presented)), presented: hashOf(presented), at },
      ...{ clientId: request.clientId, resource: request.resource, repeatableAfter: at - repeatMs },
      ...(isForCode && {
        code: { redirectUri: request.redirectUri, challenge: challengeOf(request.verifier) ?? '' },
      }),
      next: {
        ...{ current: hashOf(refresh), access: hashOf(access) },
        ...{ accessExpiresAt: at + accessMs, expiresAt: at + refreshMs },
      },
    })
    if (exchanged.outcome !== 'given') throw refusalOf(exchanged.outcome)
    const expiresInS = Math.max(0, Math.floor((exchanged.accessExpiresAt - at) / 1000))
    return { accessToken: access, refreshToken: refresh, expiresInS }
  }

  /** Ends the grant of an access or refresh token. A token that does not exist is revoked already. */
  async revoke(clientId: string, token: string): Promise<void> {
    const hashed = isAccessToken(token) ? token : isRefreshToken(token) ? familyOf(token) : undefined
    if (hashed !== undefined) await this.#options.store.revokeOAuthToken(clientId, hashOf(hashed))
  }

  /** Whether this installation made a code or token. It may have expired since. Costs no query. */
  isGenuine(codeOrToken: string): boolean {
    return this.#options.tokens.isGenuine(codeOrToken)
  }

  /** The caller of an access token; undefined when it is unknown, revoked or expired. */
  async find(accessToken: string): Promise<KeyRow | undefined> {
    if (!isAccessToken(accessToken)) return undefined
    const row = await this.#options.store.findOAuthToken(hashOf(accessToken))
    const found = row && this.#callerOf(row)
    if (found) this.#options.used(found.id)
    return found
  }

  /** A key by which MCP tools call the API of this installation for a grant. It never leaves the installation. */
  ownKey(grantId: string): string {
    return this.#options.tokens.ownKey(grantId, this.#options.clock.now())
  }

  /** The caller of an own key; undefined for another text. */
  lookUpOwn(text: string): Promise<KeyRow | undefined> | undefined {
    return isOwnKey(text) ? this.#findOwn(text) : undefined
  }

  async #findOwn(text: string): Promise<KeyRow | undefined> {
    const { tokens, store, clock } = this.#options
    const id = tokens.grantOf(text, clock.now())
    const row = id === undefined ? undefined : await store.findOAuthGrant(id)
    return row && rowOf(row)
  }

  #callerOf(row: OAuthTokenRow): KeyRow | undefined {
    return row.accessExpiresAt > this.#options.clock.now() ? rowOf(row) : undefined
  }
}

/** A caller with access to one workspace; undefined when the account is no longer a member. */
function rowOf({ grantId, clientName, userId, workspaceId, role, createdAt, accessExpiresAt }: OAuthTokenRow) {
  if (role === null) return undefined
  const row: KeyRow = {
    ...{ id: grantId, name: clientName, lastFour: '', userId, workspaceId, createdAt },
    ...{ expiresAt: accessExpiresAt, revokedAt: null, lastUsedAt: null, roles: { [workspaceId]: role } },
  }
  return row
}

function refusalOf(outcome: Exclude<OAuthExchanged['outcome'], 'given'>): OAuthError {
  switch (outcome) {
    case 'unknown':
      return new OAuthError(
        'invalid_grant',
        'The code or token does not exist, has expired or was revoked. Sign in again.',
      )
    case 'refused':
      return new OAuthError(
        'invalid_grant',
        'redirect_uri or code_verifier does not match the request that got the code. Sign in again.',
      )
    case 'reused':
      return new OAuthError(
        'invalid_grant',
        'The code or token was used before, so somebody else may have it. All tokens of this sign-in are revoked. ' +
          'Sign in again.',
      )
    case 'elsewhere':
      return new OAuthError('invalid_target', 'The code or token is for another resource.')
  }
}

function shortened(uri: string): string {
  return JSON.stringify(uri.length > 100 ? `${uri.slice(0, 100)}…` : uri)
}

/** How long a code can be exchanged. */
const codeMs = 60_000
const accessMs = 3_600_000
/** How long a grant lasts without a refresh. */
const refreshMs = 60 * 86_400_000
/** How long a replaced refresh token gives the same tokens again. */
const repeatMs = 10_000
const idCharsMax = 100
