import * as oauth from 'oauth4webapi'
import { hostsCover } from '../../domain/credential/hosts.ts'
import type { OpenCredential } from '../../domain/credential/open-credential.ts'
import { OutboundError, type OutboundFetch } from '../../domain/outbound-request.ts'
import { isObject } from '../../domain/run/input.ts'
import { basicAuthorization } from '../authorization.ts'
import { signedAssertion, signingKey } from './assertion.ts'
import { tokenResponseOf } from './token-response.ts'

/** A token from a token endpoint. `lifetimeS`: undefined when the server does not say. */
export type IssuedToken = { accessToken: string; lifetimeS: number | undefined }

export type TokenRequestOptions = { fetch: OutboundFetch; now: number; signal: AbortSignal }

/** Asks the server of a credential for a token. Throws `OutboundError` with `CREDENTIAL_FAILED`. */
export async function requestToken(credential: OpenCredential, options: TokenRequestOptions): Promise<IssuedToken> {
  const ask = credential.kind === 'google_service_account' ? askWithAssertion : askAsClient
  try {
    const { access_token: accessToken, expires_in: lifetimeS } = await ask(credential, options)
    return { accessToken, lifetimeS }
  } catch (error) {
    throw failure(credential, error)
  }
}

async function askAsClient(credential: OpenCredential, options: TokenRequestOptions) {
  const { fields, secrets } = credential
  const server = await serverOf(credential, options)
  const client = { client_id: text(fields['clientId']) }
  const parameters = new URLSearchParams(
    isObject(fields['parameters']) ? (fields['parameters'] as Record<string, string>) : {},
  )
  for (const name of ['scope', 'audience']) if (text(fields[name]) !== '') parameters.set(name, text(fields[name]))
  const authentication = await authenticationOf(text(fields['authMethod']), secrets)
  const transport = transportOf(credential, options)
  const response = await oauth.clientCredentialsGrantRequest(server, client, authentication, parameters, transport)
  return await oauth.processClientCredentialsResponse(server, client, response)
}

async function askWithAssertion(credential: OpenCredential, options: TokenRequestOptions) {
  const { fields, secrets } = credential
  const key = keyFileOf(secrets['key'] ?? '')
  const endpoint = text(fields['tokenUrl']) || key.tokenUrl
  const server = { issuer: endpoint, token_endpoint: endpoint }
  const subject = text(fields['subject'])
  const issuedAt = Math.floor(options.now / 1_000)
  const assertion = signedAssertion(key.privateKey, key.keyId, {
    ...{ iss: key.email, scope: text(fields['scope']), aud: endpoint, iat: issuedAt, exp: issuedAt + 3_600 },
    ...(subject === '' ? {} : { sub: subject }),
  })
  const client = { client_id: key.email }
  const grant = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
  const response = await oauth.genericTokenEndpointRequest(
    server,
    client,
    oauth.None(),
    grant,
    { assertion },
    transportOf(credential, options),
  )
  return await oauth.processGenericTokenEndpointResponse(server, client, response)
}

/** The endpoints: those of the metadata document of the issuer, or the one that the author names. */
async function serverOf(credential: OpenCredential, options: TokenRequestOptions): Promise<oauth.AuthorizationServer> {
  const { fields } = credential
  const endpoint = text(fields['tokenUrl'])
  if (endpoint !== '') return { issuer: endpoint, token_endpoint: endpoint }
  const issuer = new URL(text(fields['issuer']))
  const transport = transportOf(credential, options)
  for (const algorithm of ['oidc', 'oauth2'] as const) {
    const response = await oauth.discoveryRequest(issuer, { algorithm, ...transport })
    if (response.status === 200 || algorithm === 'oauth2') return await oauth.processDiscoveryResponse(issuer, response)
  }
  throw new Error('unreachable')
}

async function authenticationOf(method: string, { clientSecret = '', privateKey = '' }: OpenCredential['secrets']) {
  if (method === 'private_key_jwt') return oauth.PrivateKeyJwt(await signingKey(privateKey))
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

/** Requests follow the same address rules as those of API blocks. */
function transportOf({ name, workspaceId }: OpenCredential, { fetch, signal }: TokenRequestOptions) {
  return {
    [oauth.allowInsecureRequests]: true,
    async [oauth.customFetch](url: string, { method, headers, body }: oauth.CustomFetchOptions<string, unknown>) {
      const target = new URL(url)
      // Over plain http, only to local addresses.
      if (!hostsCover([target.host], target)) throw new Error(`${target.origin} must be called over https.`)
      const sent = body === undefined || body === null ? {} : { body: String(body) }
      const pairs = Object.entries(headers)
      const request = { url, method, headers: pairs, ...sent, signal, workspaceId }
      const outcome = await fetch({ ...request, followRedirects: 0, timeoutMs, responseBytesMax })
      if (!outcome.ok) throw new Error(outcome.message)
      const { response } = outcome
      if (method === 'POST') return tokenResponseOf(response)
      return new Response(response.body, { status: response.status, headers: { 'content-type': 'application/json' } })
    },
  } satisfies oauth.TokenEndpointRequestOptions & { name?: typeof name }
}

type KeyFile = { email: string; privateKey: string; keyId: string | undefined; tokenUrl: string }

function keyFileOf(content: string): KeyFile {
  let members: unknown
  try {
    members = JSON.parse(content)
  } catch {
    throw new Error('the key is not JSON.')
  }
  const {
    client_email: email,
    private_key: privateKey,
    private_key_id: keyId,
    token_uri: tokenUrl,
  } = isObject(members) ? members : {}
  if (typeof email !== 'string' || typeof privateKey !== 'string') {
    throw new Error('the key has no client_email or no private_key.')
  }
  return {
    ...{ email, privateKey, keyId: typeof keyId === 'string' ? keyId : undefined },
    tokenUrl: typeof tokenUrl === 'string' ? tokenUrl : 'https://oauth2.googleapis.com/token',
  }
}

function failure({ name }: OpenCredential, error: unknown): OutboundError {
  if (error instanceof OutboundError) return error
  const prefix = `The credential "${name}" got no token`
  if (error instanceof oauth.ResponseBodyError) {
    const { error: code, error_description: described } = error
    const why = described === undefined ? code : `${code} (${described.slice(0, 200)})`
    return new OutboundError('CREDENTIAL_FAILED', `${prefix}: the server responded with ${why.slice(0, 300)}.`, error)
  }
  const message = error instanceof Error ? error.message : String(error)
  return new OutboundError('CREDENTIAL_FAILED', `${prefix}: ${message}`, error)
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

const timeoutMs = 15_000
const responseBytesMax = 1_048_576
