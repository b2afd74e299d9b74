import { OutboundError, type RequestAuthorization } from '../domain/outbound-request.ts'
import { redactText } from '../domain/redaction/redactor.ts'
import type { Opened } from './fetch-transport.ts'
import type { Hop } from './redirects.ts'
import type { Target } from './target.ts'

/**
 * Adds a credential to the requests of one chain. The chain itself stays without it: an authorized request is a copy,
 * so a redirect has nothing of the credential to carry along.
 */
export class Authorizer {
  readonly #authorization: RequestAuthorization
  #hasRepeated = false

  /** Throws `CREDENTIAL_HOST` when the credential may not be sent to the first request of the chain. */
  constructor(authorization: RequestAuthorization, first: Target) {
    this.#authorization = authorization
    if (authorization.covers(first.url)) return
    const message =
      `The credential "${authorization.name}" may not be sent to ${first.url.origin}. Add the host to the credential's ` +
      'hosts if it should be.'
    throw new OutboundError('CREDENTIAL_HOST', message)
  }

  covers({ target }: Hop): boolean {
    return this.#authorization.covers(target.url)
  }

  async authorized(hop: Hop): Promise<Hop> {
    const { tls } = this.#authorization
    const url = new URL(hop.target.url)
    const headers = new Headers(hop.headers)
    await this.#authorization.authorize({ method: hop.method, url, headers, body: hop.body })
    return { ...hop, headers, target: { ...hop.target, url }, ...(tls ? { tls } : {}) }
  }

  /** Whether the request is to be sent again. At most once in a chain. */
  async repeatsAfter({ status, headers }: Opened): Promise<boolean> {
    if (!this.#hasRepeated && (await this.#authorization.repeatsAfter?.({ status, headers }))) {
      this.#hasRepeated = true
      return true
    }
    this.#authorization.responded?.(status)
    return false
  }

  /** Throws `REDIRECT_REFUSED` when a server redirects to a strange host and puts a secret in the URL. */
  refuseSecretUrl(next: Hop): void {
    const { target, redactor } = next
    if (redactor === undefined || this.covers(next) || redactText(target.url.href, redactor) === target.url.href) return
    throw new OutboundError(
      'REDIRECT_REFUSED',
      `The service redirects to ${target.url.origin} with a secret of the workspace in the URL. The credential ` +
        `"${this.#authorization.name}" may not be sent there.`,
    )
  }
}
