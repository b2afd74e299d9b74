import { type Clock, sleep } from '../../domain/clock.ts'
import { signsIn } from '../../domain/credential/kinds.ts'
import type { OpenCredential } from '../../domain/credential/open-credential.ts'
import { AppError } from '../../domain/errors.ts'
import { OutboundError, type OutboundFetch } from '../../domain/outbound-request.ts'
import { isStillFor, type McpGrant } from './mcp/grant.ts'
import type { DeviceSignIn } from './sign-in-requests.ts'
import type { Token } from './token.ts'
import type { Tokens } from './tokens.ts'

export type SignInsOptions = {
  /** The credential with its variables filled in; undefined when there is none of this name. */
  find(workspaceId: string, name: string): Promise<OpenCredential | undefined>
  tokens: Pick<Tokens, 'signedIn' | 'signInFailed'>
  box: { seal(plain: string, context: string): Uint8Array; openText(sealed: Uint8Array, context: string): string }
  fetch: OutboundFetch
  /** A text without the secrets of the workspace: a server may repeat them in its errors. */
  redact(workspaceId: string, text: string): Promise<string>
  /** The public address of the service; undefined when the service cannot know it. */
  baseUrl(): string | undefined
  clock: Clock
}

/** How a person signs in: at a URL, or at a URL with a code. `expiresAt` in epoch milliseconds. */
export type StartedSignIn = { url: string } | { userCode: string; verificationUrl: string; expiresAt: number }

/** A sign-in that a provider has sent back. `returnTo`: a path of the service. */
export type FinishedSignIn = { workspaceId: string; name: string; returnTo: string | undefined }

/**
 * A sealed note that travels to the provider and back. `session`: of the person who started the sign-in. `grant`: what
 * the token for an MCP server will be bound to, with the client that has registered for it.
 */
type State = {
  workspaceId: string
  name: string
  id: string
  session: string
  verifier: string
  expiresAt: number
  returnTo?: string
  grant?: McpGrant
}

/**
 * The sign-ins of people for credentials. Nothing is kept here for a sign-in by URL: the state goes to the provider and
 * back, sealed and bound to the person's session, so that any process can finish it.
 */
export class SignIns {
  readonly #options: SignInsOptions
  /** The sign-ins on other devices that the service waits for, by credential. */
  readonly #waiting = new Map<string, AbortController>()

  constructor(options: SignInsOptions) {
    this.#options = options
  }

  /** `session`: a text that only the person's browser can present again. Throws `AppError`. */
  async start(
    workspaceId: string,
    name: string,
    { session, returnTo }: { session: string | undefined; returnTo: string | undefined },
  ): Promise<StartedSignIn> {
    const credential = await this.#options.find(workspaceId, name)
    if (!credential) throw new AppError('NOT_FOUND', `The workspace has no credential "${name.slice(0, 100)}".`)
    if (!signsIn(credential.kind)) {
      throw new AppError('CONFLICT', `Nobody signs in with a credential of kind ${credential.kind}.`)
    }
    return await this.#reported(credential, () =>
      credential.kind === 'oauth2_device'
        ? this.#startDevice(credential)
        : this.#startUrl(credential, session, returnTo),
    )
  }

  /** Finishes a sign-in with the query of its callback. Throws `AppError` with a message for the person. */
  async finish(received: URLSearchParams, session: string | undefined): Promise<FinishedSignIn> {
    const sealed = received.get('state') ?? ''
    const state = this.#opened(sealed)
    if (!state) throw new AppError('INVALID_INPUT', 'This sign-in was not started here. Start it again.')
    const { workspaceId, name, id, returnTo } = state
    if (session === undefined || state.session !== session) {
      throw new AppError('FORBIDDEN', 'Another person, or another browser, started this sign-in. Start it again.')
    }
    if (this.#options.clock.now() > state.expiresAt) {
      throw new AppError('INVALID_INPUT', 'This sign-in took longer than 10 minutes. Start it again.')
    }
    const credential = await this.#options.find(workspaceId, name)
    if (credential?.id !== id) throw new AppError('NOT_FOUND', `The credential "${name}" was deleted meanwhile.`)
    await this.#reported(credential, async () => {
      await this.#options.tokens.signedIn(credential, await this.#exchange(credential, received, sealed, state))
    })
    return { workspaceId, name, returnTo }
  }

  stop(): void {
    for (const waiting of this.#waiting.values()) waiting.abort()
  }

  async #startUrl(credential: OpenCredential, session: string | undefined, returnTo: string | undefined) {
    const { box, clock } = this.#options
    if (session === undefined) throw new AppError('SIGN_IN_REQUIRED', 'Start the sign-in on the page of credentials.')
    const { workspaceId, name, id } = credential
    const expiresAt = clock.now() + stateMs
    const state = (verifier: string, grant?: McpGrant) => {
      const content: State = {
        ...{ workspaceId, name, id, session, verifier, expiresAt },
        ...(returnTo ? { returnTo } : {}),
        ...(grant ? { grant } : {}),
      }
      return Buffer.from(box.seal(JSON.stringify(content), stateContext)).toString('base64url')
    }
    const request = { redirectUri: this.#addresses().callback, state }
    if (credential.kind === 'mcp_oauth') {
      const { mcpAuthorizationUrl } = await import('./mcp/sign-in.ts')
      return { url: await mcpAuthorizationUrl(credential, request, this.#requests()) }
    }
    const { authorizationUrl } = await import('./sign-in-requests.ts')
    return { url: await authorizationUrl(credential, request, this.#requests()) }
  }

  async #exchange(
    credential: OpenCredential,
    received: URLSearchParams,
    sealed: string,
    { verifier, grant }: State,
  ): Promise<Token> {
    const answer = { received, redirectUri: this.#addresses().callback, state: sealed, verifier }
    const isSame = credential.kind === 'mcp_oauth' ? grant && isStillFor(credential, grant) : !grant
    if (!isSame) {
      throw new AppError('CONFLICT', `The credential "${credential.name}" was changed meanwhile. Start it again.`)
    }
    if (grant) {
      const { exchangeMcpCode } = await import('./mcp/sign-in.ts')
      return await exchangeMcpCode(credential, grant, answer, this.#requests())
    }
    const { exchangeCode } = await import('./sign-in-requests.ts')
    return await exchangeCode(credential, answer, this.#requests())
  }

  async #startDevice(credential: OpenCredential): Promise<StartedSignIn> {
    const { id } = credential
    if (this.#waiting.size >= waitingMax && !this.#waiting.has(id)) {
      throw new AppError('OVERLOADED', `The service waits for ${waitingMax} sign-ins already. Try again later.`)
    }
    const { startDeviceSignIn } = await import('./sign-in-requests.ts')
    const started = await startDeviceSignIn(credential, this.#requests())
    this.#waiting.get(id)?.abort()
    const waiting = new AbortController()
    this.#waiting.set(id, waiting)
    void this.#waitForDevice(credential, started, waiting.signal)
      .catch((error: unknown) => this.#options.tokens.signInFailed(credential, error))
      .finally(() => this.#waiting.get(id) === waiting && this.#waiting.delete(id))
    const { userCode, verificationUrl, expiresAt } = started
    return { userCode, verificationUrl, expiresAt }
  }

  /** Ends when the person has signed in or refused, or after the time that the server allows. */
  async #waitForDevice(credential: OpenCredential, started: DeviceSignIn, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options
    const { askForDevice } = await import('./sign-in-requests.ts')
    let { intervalMs } = started
    while (clock.now() < started.expiresAt) {
      await sleep(clock, intervalMs, signal)
      const token = await askForDevice(credential, started.deviceCode, this.#requests(signal))
      if (token === 'slower') intervalMs += slowerMs
      else if (token !== 'wait') return await this.#options.tokens.signedIn(credential, token)
    }
  }

  #opened(state: string): State | undefined {
    try {
      return JSON.parse(this.#options.box.openText(Buffer.from(state, 'base64url'), stateContext)) as State
    } catch {
      return undefined
    }
  }

  /** CONFLICT when the service does not know at which address browsers reach it. */
  #addresses(): { callback: string } {
    const baseUrl = this.#options.baseUrl()
    if (baseUrl !== undefined) return { callback: `${baseUrl}/api/oauth/callback` }
    const message =
      'The service does not know its public address, which the provider must send people back to. Set MILLRACE_BASE_URL.'
    throw new AppError('CONFLICT', message)
  }

  #requests(signal = AbortSignal.timeout(requestMs)) {
    const { fetch, clock } = this.#options
    return { fetch, now: clock.now(), signal }
  }

  /** An error of the provider becomes one for the person. */
  async #reported<Result>({ workspaceId }: OpenCredential, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error
      const message = await this.#options.redact(workspaceId, error.message)
      throw new AppError('CONFLICT', message)
    }
  }
}

const stateContext = 'oauth-state'
const stateMs = 600_000
const requestMs = 30_000
const slowerMs = 5_000
/** Sign-ins on other devices that the service waits for. */
const waitingMax = 100
