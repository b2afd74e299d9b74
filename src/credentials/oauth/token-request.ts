import * as oauth from 'oauth4webapi'
import { signsIn } from '../../domain/credential/kinds.ts'
import type { OpenCredential } from '../../domain/credential/open-credential.ts'
import { isObject } from '../../domain/run/input.ts'
import { signedAssertion } from './assertion.ts'
import { refreshForMcp } from './mcp/sign-in.ts'
import {
  authenticationOf,
  clientOf,
  type ProviderOptions,
  parametersOf,
  providerError,
  providerOf,
  refusalOf,
  textOf,
  transportOf,
} from './provider.ts'
import { type IssuedToken, issuedBy, needsSignIn, type Token } from './token.ts'

/**
 * Asks the server of a credential for a token. `stored`: the one that the server issued last. Throws `OutboundError`
 * with `CREDENTIAL_FAILED`, or with `CREDENTIAL_SIGN_IN` when the server does not accept the refresh token any more.
 */
export async function requestToken(
  credential: OpenCredential,
  options: ProviderOptions,
  stored?: Stored,
): Promise<IssuedToken> {
  try {
    return issuedBy(await ask(credential, options, stored))
  } catch (error) {
    const refusal = refusalOf(error)
    // The server may have forgotten a client that registered itself. Another sign-in registers it again.
    const isForgotten = refusal === 'invalid_client' && stored?.grant?.client.isRegistered === true
    if (signsIn(credential.kind) && (refusal === 'invalid_grant' || isForgotten)) {
      const reason = error instanceof oauth.ResponseBodyError ? error.error_description : undefined
      const why = reason === undefined ? refusal : `${refusal}: ${reason.slice(0, 200)}`
      throw needsSignIn(credential, ` again: the server refused its refresh token (${why})`, error)
    }
    throw providerError(`The credential "${credential.name}" got no token`, error)
  }
}

type Stored = Pick<Token, 'refreshToken' | 'grant'>

function ask(credential: OpenCredential, options: ProviderOptions, { refreshToken = '', grant }: Stored = {}) {
  if (grant) return refreshForMcp(credential, grant, refreshToken, options)
  if (credential.kind === 'mcp_oauth') throw needsSignIn(credential, '')
  if (credential.kind === 'google_service_account') return askWithAssertion(credential, options)
  return signsIn(credential.kind) ? refresh(credential, options, refreshToken) : askAsClient(credential, options)
}

async function refresh(credential: OpenCredential, options: ProviderOptions, refreshToken: string) {
  const { server } = await providerOf(credential, ['tokenUrl'], options)
  const client = clientOf(credential)
  const authentication = await authenticationOf(credential)
  const transport = transportOf(credential, options)
  const response = await oauth.refreshTokenGrantRequest(server, client, authentication, refreshToken, transport)
  return await oauth.processRefreshTokenResponse(server, client, response)
}

async function askAsClient(credential: OpenCredential, options: ProviderOptions) {
  const { server } = await providerOf(credential, ['tokenUrl'], options)
  const client = clientOf(credential)
  const parameters = parametersOf(credential)
  const authentication = await authenticationOf(credential)
  const transport = transportOf(credential, options)
  const response = await oauth.clientCredentialsGrantRequest(server, client, authentication, parameters, transport)
  return await oauth.processClientCredentialsResponse(server, client, response)
}

async function askWithAssertion(credential: OpenCredential, options: ProviderOptions) {
  const { fields, secrets } = credential
  const key = keyFileOf(secrets['key'] ?? '')
  const endpoint = textOf(fields['tokenUrl']) || key.tokenUrl
  const server = { issuer: endpoint, token_endpoint: endpoint }
  const subject = textOf(fields['subject'])
  const issuedAt = Math.floor(options.now / 1_000)
  const assertion = signedAssertion(key.privateKey, key.keyId, {
    ...{ iss: key.email, scope: textOf(fields['scope']), aud: endpoint, iat: issuedAt, exp: issuedAt + 3_600 },
    ...(subject === '' ? {} : { sub: subject }),
  })
  const client = { client_id: key.email }
  const grant = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
  const transport = transportOf(credential, options)
  const response = await oauth.genericTokenEndpointRequest(
    ...([server, client, oauth.None(), grant, { assertion }, transport] as const),
  )
  return await oauth.processGenericTokenEndpointResponse(server, client, response)
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
