import type { AuthorizationServer } from 'oauth4webapi'
import type { OpenCredential } from '../../../domain/credential/open-credential.ts'
import { assertSecure, type ProviderOptions, textOf } from '../provider.ts'
import { isSameUrl } from './grant.ts'
import { firstDocument, isShort, textsOf } from './json.ts'
import type { Protection } from './protection.ts'

export type KnownServer = AuthorizationServer & { authorization_endpoint: string; token_endpoint: string }

/**
 * The authorization server that issues the tokens for an MCP server: the one that the credential names, or else the
 * first that the MCP server names. MCP servers of 2025-03 have no metadata document, and are their own.
 */
export async function authorizationServerOf(
  credential: OpenCredential,
  { server, issuers }: Protection,
  options: ProviderOptions,
): Promise<KnownServer> {
  const wanted = textOf(credential.fields['issuer'])
  if (wanted !== '' && issuers && !issuers.some((each) => isSameUrl(each, wanted))) {
    throw new Error(`the MCP server ${server.host} does not use the authorization server ${wanted}.`)
  }
  const issuer = wanted || (issuers?.[0] ?? server.origin)
  const url = URL.parse(issuer)
  if (!url) throw new Error(`the MCP server ${server.host} names an authorization server that is not a URL.`)
  const found = await firstDocument(credential, placesOf(url), options)
  if (!found) throw new Error(noDocument(url, server, issuers))
  const { members } = found
  if (!isShort(members['issuer']) || !isSameUrl(members['issuer'], issuer)) {
    const said = JSON.stringify(members['issuer'])?.slice(0, 200) ?? 'no issuer'
    throw new Error(`${found.url} describes ${said} and not the authorization server ${issuer}.`)
  }
  const methods = members['code_challenge_methods_supported']
  // Some servers do not list it although they know it. It is sent in any case.
  if (methods !== undefined && !textsOf(methods).includes('S256')) {
    throw new Error(`the authorization server ${url.host} does not support PKCE with S256.`)
  }
  return { ...members, issuer: members['issuer'], ...endpointsOf(members, url) }
}

/** RFC 8414 puts the path of the issuer behind the well-known part; OpenID Connect also puts it in front. */
function placesOf({ origin, pathname, search }: URL): string[] {
  const path = pathname.replace(/\/$/, '')
  if (search !== '') return []
  return [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ]
}

/** Browsers open one of these addresses, so no other scheme may pass. */
function endpointsOf(members: Record<string, unknown>, { host }: URL) {
  const endpoint = (name: string, isRequired: boolean): string | undefined => {
    const value = members[name]
    if (value === undefined && !isRequired) return undefined
    const url = isShort(value) ? URL.parse(value) : null
    if (!url) throw new Error(`the metadata document of ${host} has no valid ${name}.`)
    assertSecure(url)
    return url.href
  }
  const registration = endpoint('registration_endpoint', false)
  return {
    authorization_endpoint: endpoint('authorization_endpoint', true)!,
    token_endpoint: endpoint('token_endpoint', true)!,
    ...(registration === undefined ? {} : { registration_endpoint: registration }),
  }
}

function noDocument({ href }: URL, { host }: URL, issuers: Protection['issuers']): string {
  return issuers === undefined
    ? `the MCP server ${host} does not say where people sign in: it has no metadata document (RFC 9728 or RFC 8414).`
    : `the authorization server ${href} has no metadata document (RFC 8414 or OpenID Connect).`
}
