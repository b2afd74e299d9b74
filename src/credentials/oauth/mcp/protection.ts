import type { OpenCredential } from '../../../domain/credential/open-credential.ts'
import { type ProviderOptions, send, textOf } from '../provider.ts'
import { challengeParameter } from './challenge.ts'
import { firstDocument, isShort, textsOf } from './json.ts'

/**
 * How an MCP server is protected. `issuers`: the authorization servers that it names; undefined when it has no metadata
 * document. `scope`: the scopes that it asks for.
 */
export type Protection = { server: URL; resource: string; issuers: readonly string[] | undefined; scope: string }

/**
 * Asks an MCP server how clients get tokens for it (RFC 9728). Its refusal of a request without a token may name the
 * metadata document; otherwise the document is at the well-known place for the address, or for its origin.
 */
export async function protectionOf(credential: OpenCredential, options: ProviderOptions): Promise<Protection> {
  const server = serverOf(credential)
  const challenge = await challengeOf(credential, server, options)
  const named = challengeParameter(challenge, 'resource_metadata')
  const metadata = named === undefined ? null : URL.parse(named, server)
  const path = server.pathname === '/' ? '' : server.pathname
  const wellKnown = `${server.origin}/.well-known/oauth-protected-resource`
  const places = [...(metadata ? [metadata.href] : []), `${wellKnown}${path}${server.search}`, wellKnown]
  const found = await firstDocument(credential, places, options)
  const asked = challengeParameter(challenge, 'scope')
  if (!found) return { server, resource: server.href, issuers: undefined, scope: asked ?? '' }
  const { resource, authorization_servers: issuers, scopes_supported: scopes } = found.members
  if (!isShort(resource) || !isFor(resource, server)) {
    const said = JSON.stringify(resource)?.slice(0, 200) ?? 'no resource'
    throw new Error(`${found.url} describes ${said} and not the MCP server ${server.href}.`)
  }
  return { server, resource, issuers: textsOf(issuers), scope: asked ?? textsOf(scopes).join(' ') }
}

function serverOf({ fields }: OpenCredential): URL {
  const url = URL.parse(textOf(fields['server']))
  if (url && /^https?:$/.test(url.protocol) && url.username === '' && url.hash === '') return url
  throw new Error('its server is not a valid http or https URL.')
}

/** The challenge in the refusal of a request without a token; empty when the server does not refuse it. */
async function challengeOf(credential: OpenCredential, server: URL, options: ProviderOptions): Promise<string> {
  const headers = [
    ['accept', 'application/json, text/event-stream'],
    ['content-type', 'application/json'],
  ] as const
  const outcome = await send(credential, { url: server.href, method: 'POST', headers, body: firstMessage }, options)
  // The end of a response may be missing: only its head matters here.
  if (!outcome.ok && outcome.status === undefined) throw new Error(outcome.message)
  const { status, headers: received = {} } = outcome.ok ? outcome.response : outcome
  const challenges = [received['www-authenticate'] ?? []].flat().join(', ')
  return status === 401 ? challenges.slice(0, challengeCharsMax) : ''
}

const challengeCharsMax = 4_000

/** The message that begins each session. */
const firstMessage = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'millrace', title: 'Millrace', version: '1' },
  },
})

/** A document may be for the server alone, or for all paths below one of its folders. */
function isFor(resource: string, server: URL): boolean {
  const url = URL.parse(resource)
  if (!url || url.origin !== server.origin || url.hash !== '') return false
  const isBelow = folderOf(server.pathname).startsWith(folderOf(url.pathname))
  return isBelow && (url.search === '' || url.search === server.search)
}

const folderOf = (path: string) => (path.endsWith('/') ? path : `${path}/`)
