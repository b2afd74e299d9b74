import type { OAuthGrants } from '../../../accounts/oauth/grants.ts'
import { OAuthError } from '../../../accounts/oauth/oauth-error.ts'
import type { OAuthClientRow } from '../../../store/oauth-store.ts'
import { onlyOnce, required } from './oauth-response.ts'

/** The request of a client. `workspaceId`: the only workspace that it can use, if it names one by its resource. */
export type Authorization = {
  client: OAuthClientRow
  redirectUri: string
  state: string | undefined
  challenge: string
  resource: string
  workspaceId: string | undefined
}

/** An authorization that cannot be granted, but whose client may be told so. */
export type RefusedAuthorization = Pick<Authorization, 'client' | 'redirectUri' | 'state'> & { refusal: OAuthError }

/**
 * Reads the query of the authorization page. Throws OAuthError when the client or its address is unknown: then nobody
 * may be sent to that address.
 */
export async function readAuthorization(
  grants: Pick<OAuthGrants, 'findClient'>,
  baseUrl: string,
  query: string,
): Promise<Authorization | RefusedAuthorization> {
  const parameters = onlyOnce(new URLSearchParams(query))
  const redirectUri = required(parameters, 'redirect_uri')
  const client = await grants.findClient(required(parameters, 'client_id'), redirectUri)
  const state = parameters.get('state')
  const known = { client, redirectUri, state: state === undefined || state.length > stateCharsMax ? undefined : state }
  try {
    if (state !== known.state)
      throw new OAuthError('invalid_request', `state has more than ${stateCharsMax} characters.`)
    return { ...known, ...readRest(parameters, baseUrl) }
  } catch (thrown) {
    if (thrown instanceof OAuthError) return { ...known, refusal: thrown }
    throw thrown
  }
}

function readRest(parameters: ReadonlyMap<string, string>, baseUrl: string) {
  if (required(parameters, 'response_type') !== 'code') {
    throw new OAuthError('unsupported_response_type', 'response_type must be "code".')
  }
  const challenge = required(parameters, 'code_challenge')
  if (parameters.get('code_challenge_method') !== 'S256' || !/^[\w-]{43}$/.test(challenge)) {
    throw new OAuthError('invalid_request', 'The service needs PKCE with code_challenge_method=S256.')
  }
  const resource = parameters.get('resource') ?? `${baseUrl}/mcp`
  return { challenge, resource, workspaceId: workspaceOfResource(resource, baseUrl) }
}

/** The workspace that the address of an MCP server names. Throws invalid_target for another address. */
function workspaceOfResource(resource: string, baseUrl: string): string | undefined {
  const path = resource.startsWith(`${baseUrl}/`) ? resource.slice(baseUrl.length) : ''
  const [, named] = /^\/mcp(?:\/([\w-]{1,100}))?\/?$/.exec(path) ?? []
  if (path === '' || (named === undefined && !/^\/mcp\/?$/.test(path))) {
    const message = `resource must be ${baseUrl}/mcp, or ${baseUrl}/mcp/<workspace ID>. Use this address in the application.`
    throw new OAuthError('invalid_target', message)
  }
  return named
}

/** The address of the client with the outcome in its query. `iss` says who sends it there (RFC 9207). */
export function addressWith(
  { redirectUri, state }: Pick<Authorization, 'redirectUri' | 'state'>,
  baseUrl: string,
  outcome: Record<string, string>,
): string {
  const query = new URLSearchParams({ ...outcome, ...(state !== undefined && { state }), iss: baseUrl })
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${query}`
}

const stateCharsMax = 2_000
