import * as oauth from 'oauth4webapi'
import type { OpenCredential } from '../../../domain/credential/open-credential.ts'
import { authenticationOf, clientOf, type ProviderOptions, providerError, textOf, transportOf } from '../provider.ts'
import { issuedBy, type Token, tokenFrom } from '../token.ts'
import { authorizationServerOf, type KnownServer } from './authorization-server.ts'
import type { McpGrant } from './grant.ts'
import { textsOf } from './json.ts'
import { type Protection, protectionOf } from './protection.ts'
import { clientFor } from './registration.ts'

/** The page where a person signs in for an MCP server. `state` gets everything that the callback needs. */
export async function mcpAuthorizationUrl(
  credential: OpenCredential,
  { redirectUri, state }: { redirectUri: string; state: (verifier: string, grant: McpGrant) => string },
  options: ProviderOptions,
): Promise<string> {
  try {
    const protection = await protectionOf(credential, options)
    const server = await authorizationServerOf(credential, protection, options)
    const scope = textOf(credential.fields['scope']) || offeredScope(protection, server)
    const client = await clientFor(credential, server, { redirectUri, scope }, options)
    const verifier = oauth.generateRandomCodeVerifier()
    const { resource } = protection
    const grant: McpGrant = {
      ...{ server: textOf(credential.fields['server']), resource },
      ...{ issuer: server.issuer, tokenUrl: server.token_endpoint, client },
      namesIssuer: server.authorization_response_iss_parameter_supported === true,
    }
    const url = new URL(server.authorization_endpoint)
    const parameters = {
      ...{ response_type: 'code', client_id: client.id, redirect_uri: redirectUri, resource },
      ...(scope === '' ? {} : { scope }),
      // OpenID Connect wants this for a refresh token.
      ...(scope.split(' ').includes('offline_access') ? { prompt: 'consent' } : {}),
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      ...{ code_challenge_method: 'S256', state: state(verifier, grant) },
    }
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
    return url.href
  } catch (error) {
    throw providerError(`Nobody can sign in with the credential "${credential.name}"`, error)
  }
}

/** The scopes that the MCP server asks for, and the one with which some authorization servers give a refresh token. */
function offeredScope({ scope, server }: Protection, { scopes_supported: known }: KnownServer): string {
  const isOffline = textsOf(known).includes('offline_access') && !scope.split(' ').includes('offline_access')
  if (scope.length > scopeCharsMax) {
    throw new Error(`the MCP server ${server.host} names too many scopes. Set the scope of the credential.`)
  }
  return isOffline && scope !== '' ? `${scope} offline_access` : scope
}

const scopeCharsMax = 4_000

/** Exchanges the code of a callback for a token. `state`: the one that the callback must have. */
export async function exchangeMcpCode(
  credential: OpenCredential,
  grant: McpGrant,
  {
    received,
    redirectUri,
    state,
    verifier,
  }: { received: URLSearchParams; redirectUri: string; state: string; verifier: string },
  options: ProviderOptions,
): Promise<Token> {
  try {
    const { server, client, authentication, transport } = await partiesOf(credential, grant, options)
    const validated = oauth.validateAuthResponse(server, client, received, state)
    const response = await oauth.authorizationCodeGrantRequest(
      ...([server, client, authentication, validated, redirectUri, verifier, transport] as const),
    )
    const result = await oauth.processAuthorizationCodeResponse(server, client, response)
    return { ...tokenFrom(issuedBy(result), options.now), grant }
  } catch (error) {
    throw providerError(`The sign-in of the credential "${credential.name}" failed`, error)
  }
}

export async function refreshForMcp(
  credential: OpenCredential,
  grant: McpGrant,
  refreshToken: string,
  options: ProviderOptions,
): Promise<oauth.TokenEndpointResponse> {
  const { server, client, authentication, transport } = await partiesOf(credential, grant, options)
  const response = await oauth.refreshTokenGrantRequest(server, client, authentication, refreshToken, transport)
  return await oauth.processRefreshTokenResponse(server, client, response)
}

async function partiesOf(credential: OpenCredential, grant: McpGrant, options: ProviderOptions) {
  const { issuer, tokenUrl, namesIssuer, resource } = grant
  const { id, secret, isRegistered, authMethod } = grant.client
  const clientSecret = isRegistered ? secret : credential.secrets['clientSecret']
  const asClient: OpenCredential = {
    ...credential,
    fields: { clientId: id, authMethod },
    secrets: clientSecret === undefined ? {} : { clientSecret },
  }
  return {
    server: { issuer, token_endpoint: tokenUrl, authorization_response_iss_parameter_supported: namesIssuer },
    client: clientOf(asClient),
    authentication: await authenticationOf(asClient),
    transport: { ...transportOf(asClient, options), additionalParameters: { resource } },
  }
}
