import type { Clock } from '../../domain/clock.ts'
import { sleep } from '../../domain/clock.ts'
import { credentialTokenContext } from '../../domain/credential/credential.ts'
import type { OpenCredential } from '../../domain/credential/open-credential.ts'
import { forgetOldest } from '../../domain/forget-oldest.ts'
import { newId } from '../../domain/ids.ts'
import { OutboundError, type OutboundFetch } from '../../domain/outbound-request.ts'
import type { Secret } from '../../domain/redaction/redactor.ts'
import type { CredentialRow } from '../../store/credential-store.ts'
import type { Store } from '../../store/store.ts'
import type { TokenSource } from '../authorization.ts'
import type { IssuedToken } from './token-request.ts'

export type TokensOptions = {
  store: Pick<Store, 'getCredential' | 'takeCredentialLease' | 'saveCredentialToken' | 'endCredentialLease'>
  box: { seal(plain: string, context: string): Uint8Array; openText(sealed: Uint8Array, context: string): string }
  fetch: OutboundFetch
  /** Hides the token of a credential in the logs of its workspace. */
  hide(workspaceId: string, credentialId: string, token: Secret): void
  /** A text without the secrets of the workspace: a server may repeat them in its errors. */
  redact(workspaceId: string, text: string): Promise<string>
  clock: Clock
}

/** `refreshAt`: when another one should be got. Epoch milliseconds. */
type Token = { accessToken: string; refreshAt: number; expiresAt: number | null }

/**
 * The tokens of credentials: in memory, and sealed in the store for other processes and later starts. A token is
 * refreshed before it expires, or after a service has refused it. One process at a time refreshes the token of a
 * credential, and all requests that need it meanwhile wait for that one.
 */
export class Tokens implements TokenSource {
  readonly #options: TokensOptions
  /** The name of this process for the leases. */
  readonly #owner = newId()
  /** By credential; those used last come last. */
  readonly #known = new Map<string, Token>()
  readonly #refreshing = new Map<string, Promise<Token>>()
  readonly #stopped = new AbortController()

  constructor(options: TokensOptions) {
    this.#options = options
  }

  async tokenOf(credential: OpenCredential): Promise<string> {
    const key = keyOf(credential)
    const known = this.#known.get(key)
    if (known && this.#options.clock.now() < known.refreshAt) return known.accessToken
    return (await this.#refresh(credential, undefined)).accessToken
  }

  async refused(credential: OpenCredential, token: string): Promise<boolean> {
    return (await this.#refresh(credential, token)).accessToken !== token
  }

  /** Ends requests to token endpoints. */
  stop(): void {
    this.#stopped.abort()
  }

  #refresh(credential: OpenCredential, refused: string | undefined): Promise<Token> {
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

  #remember(credential: OpenCredential, token: Token): Token {
    const { name, workspaceId } = credential
    this.#options.hide(workspaceId, credential.id, { name, value: token.accessToken })
    const key = keyOf(credential)
    this.#known.delete(key)
    this.#known.set(key, token)
    forgetOldest(this.#known, knownMax)
    return token
  }

  /** The stored token if it is good, else a new one. Waits while another process gets one. */
  async #find(credential: OpenCredential, refused: string | undefined): Promise<Token> {
    const { store, clock } = this.#options
    const giveUpAt = clock.monotonic() + waitMsMax
    for (;;) {
      const now = clock.now()
      const row = await store.takeCredentialLease(credential.id, this.#owner, now, now + leaseMs)
      if (row) return await this.#underLease(credential, row, refused)
      const { workspaceId, name } = credential
      const stored = await store.getCredential(workspaceId, name)
      if (!stored) throw failed(credential, 'it was deleted')
      if (clock.monotonic() > giveUpAt) throw failed(credential, 'another process has not finished getting one')
      await sleep(clock, pollMs, this.#stopped.signal)
    }
  }

  async #underLease(credential: OpenCredential, row: CredentialRow, refused: string | undefined): Promise<Token> {
    const { store, clock, fetch } = this.#options
    try {
      const stored = this.#storedIn(row)
      if (stored && stored.accessToken !== refused && clock.now() < stored.refreshAt) {
        await store.endCredentialLease(row.id, this.#owner)
        return stored
      }
      // Loaded on first use, because few installations need it.
      const { requestToken } = await import('./token-request.ts')
      const askedAt = clock.now()
      const issued = await requestToken(credential, { fetch, now: askedAt, signal: this.#stopped.signal })
      const token = tokenOf(issued, askedAt)
      const sealed = this.#options.box.seal(JSON.stringify(token), credentialTokenContext(row.workspaceId, row.id))
      const change = { token: sealed, state: 'ok', problem: null, expiresAt: token.expiresAt } as const
      // When the credential was changed meanwhile, the token serves this request only.
      await store.saveCredentialToken(row.id, this.#owner, row.tokenVersion, change)
      return token
    } catch (error) {
      const isKnown = error instanceof OutboundError
      const problem = isKnown ? await this.#options.redact(row.workspaceId, error.message) : null
      const change = { token: null, state: 'failing', problem, expiresAt: null } as const
      const { saveCredentialToken, endCredentialLease } = store
      if (problem === null) await endCredentialLease.call(store, row.id, this.#owner)
      else await saveCredentialToken.call(store, row.id, this.#owner, row.tokenVersion, change)
      throw error
    }
  }

  /** Undefined when there is none, or its key was lost. */
  #storedIn({ id, workspaceId, token }: CredentialRow): Token | undefined {
    if (token === null || token.length === 0) return undefined
    return JSON.parse(this.#options.box.openText(token, credentialTokenContext(workspaceId, id))) as Token
  }
}

/** A tenth of the lifetime early, at most five minutes. The lifetime began when the token was asked for. */
function tokenOf({ accessToken, lifetimeS }: IssuedToken, askedAt: number): Token {
  const lifetimeMs = (lifetimeS ?? unknownLifetimeS) * 1_000
  const expiresAt = askedAt + lifetimeMs
  const refreshAt = expiresAt - Math.min(lifetimeMs / 10, earlyMsMax)
  return { accessToken, refreshAt, expiresAt: lifetimeS === undefined ? null : expiresAt }
}

/** A change of the credential makes another token necessary. */
function keyOf({ id, fields, secrets }: OpenCredential): string {
  return `${id} ${Bun.hash(JSON.stringify([fields, secrets]))}`
}

function failed({ name }: OpenCredential, why: string): OutboundError {
  return new OutboundError('CREDENTIAL_FAILED', `The credential "${name}" got no token: ${why}.`)
}

const knownMax = 10_000
/** Longer than a token request may take, so that a lease ends only when its process has ended. */
const leaseMs = 30_000
const waitMsMax = 40_000
const pollMs = 100
const earlyMsMax = 300_000
/** For servers that do not say how long a token is valid. */
const unknownLifetimeS = 3_600
