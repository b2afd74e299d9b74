import type { OpenCredential } from '../../../domain/credential/open-credential.ts'
import { type ProviderOptions, textOf } from '../provider.ts'
import type { KnownServer } from './authorization-server.ts'
import type { McpClient } from './grant.ts'
import { requestJson } from './json.ts'

/**
 * The client that the service is at an authorization server: the one of the credential, or else one that registers now
 * (RFC 7591). Each sign-in registers again, because a server may forget clients without telling anyone.
 */
export async function clientFor(
  credential: OpenCredential,
  server: KnownServer,
  { redirectUri, scope }: { redirectUri: string; scope: string },
  options: ProviderOptions,
): Promise<McpClient> {
  const known = textOf(credential.fields['clientId'])
  const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
  if (known !== '') {
    const usesForm = !methods.includes('client_secret_basic') && methods.includes('client_secret_post')
    return { id: known, isRegistered: false, authMethod: usesForm ? 'post' : 'basic' }
  }
  const { host } = new URL(server.issuer)
  if (server.registration_endpoint === undefined) {
    throw new Error(
      `the authorization server ${host} does not let clients register themselves. Create a client there with the redirect URL ${redirectUri}, and set the client ID of the credential.`,
    )
  }
  const method = ['client_secret_basic', 'client_secret_post'].find((each) => methods.includes(each)) ?? 'none'
  const body = JSON.stringify({
    client_name: 'Millrace',
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: method,
    ...(scope === '' ? {} : { scope }),
  })
  const response = await requestJson(credential, { url: server.registration_endpoint, method: 'POST', body }, options)
  return registered(response, host, method)
}

function registered(
  { status, members = {} }: Awaited<ReturnType<typeof requestJson>>,
  host: string,
  requested: string,
): McpClient {
  const { client_id: id, client_secret: secret, token_endpoint_auth_method: method = requested } = members
  if (status >= 300) {
    const said = [members['error'], members['error_description']].filter((each) => typeof each === 'string').join(': ')
    const why = said === '' ? `status ${status}` : said.slice(0, 300)
    throw new Error(`the authorization server ${host} did not register this service: ${why}.`)
  }
  if (!isPlain(id) || (secret !== undefined && secret !== null && !isPlain(secret))) {
    throw new Error(`the authorization server ${host} registered this service without a valid client ID.`)
  }
  const authMethod = method === 'client_secret_post' ? 'post' : 'basic'
  const isSecret = isPlain(secret) && method !== 'none'
  return { id, isRegistered: true, authMethod, ...(isSecret ? { secret } : {}) }
}

/** Both travel in the state of the sign-in, which is part of a URL. */
function isPlain(value: unknown): value is string {
  return typeof value === 'string' && /^[\x20-\x7e]{1,1000}$/.test(value)
}
