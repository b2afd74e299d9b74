import { type Clock, sleep } from '../../domain/clock.ts'
import { credentialTokenContext } from '../../domain/credential/credential.ts'
import { signsIn } from '../../domain/credential/kinds.ts'
import type { OpenCredential } from '../../domain/credential/open-credential.ts'
import { forgetOldest } from '../../domain/forget-oldest.ts'
import { OutboundError, type OutboundFetch } from '../../domain/outbound-request.ts'
import type { Secret } from '../../domain/redaction/redactor.ts'
import type { CredentialRow, TokenChange } from '../../store/credential-store.ts'
import type { Store } from '../../store/store.ts'
import type { TokenSource } from '../authorization.ts'
import { isStillFor } from './mcp/grant.ts'
import { needsSignIn, type Token, tokenFrom } from './token.ts'

export type TokensOptions = {
  store: Pick<Store, 'getCredential' | 'takeCredentialLease' | 'saveCredentialToken' | 'endCredentialLease'>
  box: { seal(plain: string, context: string): Uint8Array; openText(sealed: Uint8Array, context: string): string }
  fetch: OutboundFetch
  /** Hides the token of a credential in the logs of its workspace. */
  hide(workspaceId: string, credentialId: string, token: Secret): void
  /** A text without the secrets of the workspace: a server may repeat them in its errors. */
  redact(workspaceId: string, text: string): Promise<string>
  clock: Clock
  /**
   * The name of this process for the leases. When no other process can use the store, it is the same after a restart,
   * so that nothing waits for the lease of the previous process.
   */
  owner: string
}

/** `version`: of the stored token. */
type KnownToken = Token & { version: number }

/**
 * The tokens of credentials: in memory, and sealed in the store for other processes and later starts. A token is
 * refreshed before it expires, or after a service has refused it. One process at a time refreshes the token of a
 * credential, and all requests that need it meanwhile wait for that one.
 */
export class Tokens implements TokenSource {
  readonly #options: TokensOptions
  /** By credential; those used last come last. */
  readonly #known = new Map<string, KnownToken>()
  readonly #refreshing = new Map<string, Promise<KnownToken>>()
  /** Tokens that could not be stored, by credential. A server may have given up the previous refresh token for them. */
  readonly #unsaved = new Map<string, KnownToken>()
  readonly #stopped = new AbortController()

  constructor(options: TokensOptions) {
    this.#options = options
  }

  async tokenOf(credential: OpenCredential): Promise<string> {
    const known = this.#known.get(keyOf(credential))
    if (known && known.version >= credential.tokenVersion && this.#options.clock.now() < known.refreshAt) {
      return known.accessToken
    }
    return (await this.#refresh(credential, undefined)).accessToken
  }

  async refused(credential: OpenCredential, token: string): Promise<boolean> {
    return (await this.#refresh(credential, token)).accessToken !== token
  }

  /** Stores the token that a person has signed in for, in place of any earlier one. */
  async signedIn(credential: OpenCredential, token: Token): Promise<void> {
    const { id, workspaceId, name } = credential
    for (;;) {
      const row = await this.#options.store.getCredential(workspaceId, name)
      if (row?.id !== id) throw failed(credential, 'it was deleted')
      if (await this.#save(row, token, row.tokenVersion)) {
        this.#unsaved.delete(id)
        this.#remember(credential, { ...token, version: row.tokenVersion + 1 })
        return
      }
    }
  }

  /** Notes why a sign-in failed, unless an earlier one still serves. */
  async signInFailed({ workspaceId, name }: OpenCredential, error: unknown): Promise<void> {
    const { store, owner, redact } = this.#options
    const row = await store.getCredential(workspaceId, name)
    if (!row || row.token !== null || !(error instanceof OutboundError)) return
    const problem = await redact(workspaceId, error.message)
    const needsSignInAt = this.#options.clock.now()
    const change: TokenChange = { token: null, state: 'needs_sign_in', problem, expiresAt: null, needsSignInAt }
    await store.saveCredentialToken(row.id, owner, row.tokenVersion, change)
  }

  /** Ends requests to token endpoints. */
  stop(): void {
    this.#stopped.abort()
  }

  #refresh(credential: OpenCredential, refused: string | undefined): Promise<KnownToken> {
    const key = keyOf(credential)
    const known = this.#known.get(key)
    // Somebody else has replaced the refused token already.
    if (refused !== undefined && known && known.accessToken !== refused) return Promise.resolve(known)
    const underWay = this.#refreshing.get(key)
    if (underWay) return underWay
    const refreshing = this.#find(credential, refused)
      .then((token) => this.#remember(credential, token))
      .finally(() => this.#refreshing.delete(key))
    this.#refreshing.set(key, refreshing)
    return refreshing
  }

  #remember(credential: OpenCredential, token: KnownToken): KnownToken {
    this.#hide(credential, token)
    const key = keyOf(credential)
    this.#known.delete(key)
    this.#known.set(key, token)
    forgetOldest(this.#known, knownMax)
    return token
  }

  #hide({ id, name, workspaceId }: OpenCredential, { accessToken, grant }: Token): void {
    this.#options.hide(workspaceId, id, { name, value: accessToken })
    const secret = grant?.client.secret
    if (secret !== undefined) this.#options.hide(workspaceId, `${id}/client`, { name, value: secret })
  }

  /** The stored token if it is good, else a new one. Waits while another process gets one. */
  async #find(credential: OpenCredential, refused: string | undefined): Promise<KnownToken> {
    const { store, clock, owner } = this.#options
    const giveUpAt = clock.monotonic() + waitMsMax
    for (;;) {
      const now = clock.now()
      const row = await store.takeCredentialLease(credential.id, owner, now, now + leaseMs)
      if (row) return await this.#underLease(credential, row, refused)
      const { workspaceId, name } = credential
      const stored = await store.getCredential(workspaceId, name)
      if (!stored) throw failed(credential, 'it was deleted')
      if (clock.monotonic() > giveUpAt) throw failed(credential, 'another process has not finished getting one')
      await sleep(clock, pollMs, this.#stopped.signal)
    }
  }

  async #underLease(credential: OpenCredential, row: CredentialRow, refused: string | undefined): Promise<KnownToken> {
    const { store, clock, owner } = this.#options
    const renewal = this.#keepLease(row.id)
    let isEnded = false
    try {
      const stored = suitable(credential, await this.#storedIn(row))
      if (stored) this.#hide(credential, stored)
      const isUsable = stored !== undefined && stored.accessToken !== refused
      if (isUsable && clock.now() < stored.refreshAt) return stored
      if (signsIn(credential.kind) && !stored) throw needsSignIn(credential, '')
      if (signsIn(credential.kind) && stored?.refreshToken === undefined)
        return withoutRefresh(credential, stored!, clock)
      try {
        const token = await this.#requestToken(credential, stored)
        isEnded = true
        // When somebody signed in or changed the credential meanwhile, the token serves this request only.
        const isSaved = await this.#save(row, token, row.tokenVersion).catch((error: unknown) => {
          this.#unsaved.set(row.id, { ...token, version: row.tokenVersion })
          throw error
        })
        return { ...token, version: isSaved ? row.tokenVersion + 1 : row.tokenVersion }
      } catch (error) {
        if (!(error instanceof OutboundError)) throw error
        // The server may only be down for a while, and the present token is still good.
        const isGood = isUsable && (stored.expiresAt ?? 0) > clock.now() && error.code !== 'CREDENTIAL_SIGN_IN'
        if (isGood) return { ...stored, refreshAt: Math.min(clock.now() + retryMs, stored.expiresAt ?? 0) }
        await this.#saveFailure(row, error)
        isEnded = true
        throw error
      }
    } finally {
      renewal.cancel()
      if (!isEnded) await store.endCredentialLease(row.id, owner)
    }
  }

  async #requestToken(credential: OpenCredential, stored: Token | undefined): Promise<Token> {
    const { clock, fetch } = this.#options
    // Loaded on first use, because few installations need it.
    const { requestToken } = await import('./token-request.ts')
    const askedAt = clock.now()
    const options = { fetch, now: askedAt, signal: this.#stopped.signal }
    const issued = await requestToken(credential, options, stored)
    const token = tokenFrom(issued, askedAt, stored?.refreshToken)
    return stored?.grant ? { ...token, grant: stored.grant } : token
  }

  /** Keeps the lease while the server takes its time. It ends soon after this process. */
  #keepLease(id: string): { cancel(): void } {
    const { store, clock, owner } = this.#options
    const renew = () => {
      const now = clock.now()
      store.takeCredentialLease(id, owner, now, now + leaseMs).catch(() => undefined)
      timer = clock.setTimer(renewMs, renew)
    }
    let timer = clock.setTimer(renewMs, renew)
    return { cancel: () => timer.cancel() }
  }

  /** False when another token was stored meanwhile. */
  async #save({ id, workspaceId }: CredentialRow, token: Token, version: number): Promise<boolean> {
    const { store, box, owner } = this.#options
    const sealed = box.seal(JSON.stringify(token), credentialTokenContext(workspaceId, id))
    const change = { token: sealed, state: 'ok', problem: null, expiresAt: token.expiresAt } as const
    return await store.saveCredentialToken(id, owner, version, change)
  }

  /** A token stays unless someone must sign in again: it may hold the only good refresh token. */
  async #saveFailure({ id, workspaceId, token, tokenVersion, expiresAt }: CredentialRow, error: OutboundError) {
    const { store, owner, redact } = this.#options
    const problem = await redact(workspaceId, error.message)
    const change: TokenChange =
      error.code === 'CREDENTIAL_SIGN_IN'
        ? { token: null, state: 'needs_sign_in', problem, expiresAt: null, needsSignInAt: this.#options.clock.now() }
        : { token, state: 'failing', problem, expiresAt }
    await store.saveCredentialToken(id, owner, tokenVersion, change)
  }

  /** Undefined when there is none, or its key was lost. Stores a token that could not be stored before. */
  async #storedIn(row: CredentialRow): Promise<KnownToken | undefined> {
    const { id, workspaceId, token, tokenVersion } = row
    const unsaved = this.#unsaved.get(id)
    if (unsaved?.version === tokenVersion) {
      if (await this.#save(row, unsaved, tokenVersion)) row.tokenVersion += 1
      this.#unsaved.delete(id)
      return { ...unsaved, version: row.tokenVersion }
    }
    if (token === null || token.length === 0) return undefined
    const text = this.#options.box.openText(token, credentialTokenContext(workspaceId, id))
    return { ...(JSON.parse(text) as Token), version: tokenVersion }
  }
}

/** None when the token is for another MCP server than the credential: a variable has changed since. */
function suitable(credential: OpenCredential, stored: KnownToken | undefined): KnownToken | undefined {
  return stored?.grant && !isStillFor(credential, stored.grant) ? undefined : stored
}

/** A token that cannot be refreshed is used until it expires. The service says what is wrong if it refuses it. */
function withoutRefresh(credential: OpenCredential, stored: KnownToken, clock: Clock): KnownToken {
  const { expiresAt } = stored
  if (expiresAt === null) return { ...stored, refreshAt: Number.MAX_SAFE_INTEGER }
  if (clock.now() < expiresAt) return { ...stored, refreshAt: expiresAt }
  throw needsSignIn(credential, ' again: its token has expired, and the server gave no refresh token')
}

/** A change of the credential makes another token necessary. */
function keyOf({ id, fields, secrets }: OpenCredential): string {
  return `${id} ${Bun.hash(JSON.stringify([fields, secrets]))}`
}

function failed({ name }: OpenCredential, why: string): OutboundError {
  return new OutboundError('CREDENTIAL_FAILED', `The credential "${name}" got no token: ${why}.`)
}

const knownMax = 10_000
/** Renewed while a token request is in progress, so that a lease ends soon after its process has ended. */
const leaseMs = 10_000
const renewMs = 3_000
const waitMsMax = 40_000
const pollMs = 100
/** After a failed refresh, while the present token is still good. */
const retryMs = 30_000
