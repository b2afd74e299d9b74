import * as oauth from 'oauth4webapi'
import { hostsCover } from '../../domain/credential/hosts.ts'
import type { OpenCredential } from '../../domain/credential/open-credential.ts'
import {
  OutboundError,
  type OutboundFetch,
  type OutboundOutcome,
  type OutboundRequest,
} from '../../domain/outbound-request.ts'
import { isObject } from '../../domain/run/input.ts'
import { basicAuthorization } from '../authorization.ts'
import { signingKey } from './assertion.ts'
import { tokenResponseOf } from './token-response.ts'

export type ProviderOptions = { fetch: OutboundFetch; now: number; signal: AbortSignal }

/** The endpoints that a credential may name itself, by the field that does. */
const endpoints = {
  tokenUrl: 'token_endpoint',
  authorizationUrl: 'authorization_endpoint',
  deviceUrl: 'device_authorization_endpoint',
} as const
type EndpointField = keyof typeof endpoints

/** An authorization server. `isDescribed`: its metadata document was read. */
export type Provider = { server: oauth.AuthorizationServer; isDescribed: boolean }

/**
 * The endpoints of a credential's server: the ones that the author names, and else those of the metadata document of
 * the issuer. The document is read only if one of the `needed` endpoints is missing.
 */
export async function providerOf(
  credential: OpenCredential,
  needed: readonly EndpointField[],
  options: ProviderOptions,
): Promise<Provider> {
  const named = Object.entries(endpoints).flatMap(([field, endpoint]) => {
    const url = textOf(credential.fields[field])
    return url === '' ? [] : [[endpoint, url] as const]
  })
  const own: Partial<oauth.AuthorizationServer> = Object.fromEntries(named)
  const missing = needed.filter((field) => own[endpoints[field]] === undefined)
  if (missing.length === 0) return { server: { issuer: own.token_endpoint!, ...own }, isDescribed: false }
  const described = await discovered(credential, options)
  const server = { ...described, ...own }
  const absent = missing.find((field) => server[endpoints[field]] === undefined)
  if (absent !== undefined) throw new Error(`the metadata document of ${server.issuer} has no ${endpoints[absent]}.`)
  return { server, isDescribed: true }
}

async function discovered(credential: OpenCredential, options: ProviderOptions): Promise<oauth.AuthorizationServer> {
  const issuer = new URL(textOf(credential.fields['issuer']))
  const transport = transportOf(credential, options)
  const response = await oauth.discoveryRequest(issuer, { algorithm: 'oidc', ...transport })
  if (response.status === 200) return await oauth.processDiscoveryResponse(issuer, response)
  const other = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...transport })
  return await oauth.processDiscoveryResponse(issuer, other)
}

export function clientOf({ fields }: OpenCredential): oauth.Client {
  return { client_id: textOf(fields['clientId']) }
}

/** How the service identifies itself to the token endpoint. A client without a secret is a public one. */
export async function authenticationOf({ fields, secrets }: OpenCredential): Promise<oauth.ClientAuth> {
  const { clientSecret = '', privateKey = '' } = secrets
  const method = textOf(fields['authMethod'])
  if (method === 'private_key_jwt' || (privateKey !== '' && clientSecret === '')) {
    return oauth.PrivateKeyJwt(await signingKey(privateKey))
  }
  if (clientSecret === '') return oauth.None()
  return method === 'post' ? oauth.ClientSecretPost(clientSecret) : basicAuthentication(clientSecret)
}

/**
 * The standard wants both parts encoded like a form. Many servers do not decode them, so characters that need no
 * encoding get none.
 */
function basicAuthentication(clientSecret: string): oauth.ClientAuth {
  return (_server, client, _body, headers) => {
    const [user, password] = [client.client_id, clientSecret].map((part) => encodeURIComponent(part))
    headers.set('authorization', basicAuthorization(user!, password!))
  }
}

/** The further parameters of a credential, its scope and its audience. */
export function parametersOf({ fields }: OpenCredential): URLSearchParams {
  const further = fields['parameters']
  const parameters = new URLSearchParams(isObject(further) ? (further as Record<string, string>) : {})
  for (const name of ['scope', 'audience']) {
    if (textOf(fields[name]) !== '') parameters.set(name, textOf(fields[name]))
  }
  return parameters
}

export function transportOf(credential: OpenCredential, options: ProviderOptions) {
  return {
    [oauth.allowInsecureRequests]: true,
    async [oauth.customFetch](url: string, { method, headers, body }: oauth.CustomFetchOptions<string, unknown>) {
      const sent = body === undefined || body === null ? {} : { body: String(body) }
      const outcome = await send(credential, { url, method, headers: Object.entries(headers), ...sent }, options)
      if (!outcome.ok) throw new Error(outcome.message)
      const { response } = outcome
      if (method === 'POST') return tokenResponseOf(response)
      return new Response(response.body, { status: response.status, headers: { 'content-type': 'application/json' } })
    },
  } satisfies oauth.TokenEndpointRequestOptions
}

/**
 * Requests follow the same address rules as those of API blocks. They take no slot: the requests that wait for the
 * token may hold all slots of the server.
 */
export async function send(
  { workspaceId }: OpenCredential,
  request: Pick<OutboundRequest, 'url' | 'method' | 'headers'> & { body?: string },
  { fetch, signal }: ProviderOptions,
): Promise<OutboundOutcome> {
  assertSecure(new URL(request.url))
  const limits = { followRedirects: 0, timeoutMs, responseBytesMax }
  return await fetch({ ...request, ...limits, signal, workspaceId, takesNoSlot: true })
}

/** Over plain http, only to local addresses. */
export function assertSecure(url: URL): void {
  if (hostsCover([url.host], url)) return
  throw new Error(`${url.host === '' ? url.protocol : url.origin} must be called over https.`)
}

/** The error of a token request, or of another request to an authorization server, for people. */
export function providerError(prefix: string, error: unknown): OutboundError {
  if (error instanceof OutboundError) return error
  if (error instanceof oauth.ResponseBodyError || error instanceof oauth.AuthorizationResponseError) {
    const { error: code, error_description: described } = error
    const why = described === undefined ? code : `${code} (${described.slice(0, 200)})`
    return new OutboundError('CREDENTIAL_FAILED', `${prefix}: the server responded with ${why.slice(0, 300)}.`, error)
  }
  const message = error instanceof Error ? error.message : String(error)
  return new OutboundError('CREDENTIAL_FAILED', `${prefix}: ${message}`, error)
}

/** The error code of a server's response that refuses a request; undefined for any other failure. */
export function refusalOf(error: unknown): string | undefined {
  const cause: unknown = error instanceof OutboundError ? error.cause : error
  return cause instanceof oauth.ResponseBodyError ? cause.error : undefined
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

const timeoutMs = 15_000
const responseBytesMax = 1_048_576
