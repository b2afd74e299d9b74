import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { TokenRequest } from '../../../accounts/oauth/grants.ts'
import { OAuthError } from '../../../accounts/oauth/oauth-error.ts'
import { isObject } from '../../../domain/run/input.ts'
import { addressOf, type ServerPort } from '../../access/connection.ts'
import type { Door } from '../../access/door.ts'
import { assertAllowed } from '../../access/rate-headers.ts'
import { route } from '../../openapi/route.ts'
import { readBody, readJsonBody } from '../../requests/body.ts'
import { withBytesMax } from '../../requests/body-limits.ts'
import type { Services } from '../../services.ts'
import { respondWithPage } from '../interface.ts'
import { inOAuthShape, OAuthRefusal, onlyOnce, required } from './oauth-response.ts'
import { readRegistration } from './registration.ts'
import {
  AuthorizationServer,
  ClientRegistration,
  RegisteredClient,
  RevocationForm,
  TokenForm,
  Tokens,
} from './schemas.ts'

/** Larger than any registration or token request that is allowed. */
const bytesMax = 32_768

/**
 * The authorization server for MCP clients (OAuth 2.1): its description, the registration of clients, the page on which
 * people sign in and consent, and tokens. The page itself uses `routes/editor/consent.ts`.
 */
export function oauthRoutes(services: Services, door: Door) {
  const { oauth, limits, clock, settings } = services
  const body = withBytesMax(settings.body, bytesMax)

  async function formOf(request: Request): Promise<Map<string, string>> {
    try {
      return onlyOnce(new URLSearchParams(await readBody(request, body)))
    } finally {
      body.budget.release(request)
    }
  }

  /**
   * Handles a form, and counts refused forms against their address. Beyond the limit, the service still handles a form
   * with a genuine code or token, so other clients at the same address cannot lock its client out.
   */
  async function limited<Result>(
    { request, server }: { request: Request; server: ServerPort | null },
    work: (form: ReadonlyMap<string, string>) => Promise<Result>,
  ): Promise<Result> {
    const address = addressOf(request, server)
    try {
      const form = await formOf(request)
      const presented = ['code', 'refresh_token', 'token'].flatMap((name) => form.get(name) ?? [])
      if (!presented.some((text) => oauth.isGenuine(text))) {
        assertAllowed(limits.peekRefused(address), clock.now(), 'refused requests')
      }
      return await work(form)
    } catch (thrown) {
      if (thrown instanceof OAuthError) limits.takeRefused(address)
      throw thrown
    }
  }

  return new Elysia()
    .get(
      '/.well-known/oauth-authorization-server',
      ({ request, set }) => {
        door.allowAnonymous(request, set)
        const issuer = settings.baseUrl()
        return {
          issuer,
          authorization_endpoint: `${issuer}/oauth/authorize`,
          token_endpoint: `${issuer}/oauth/token`,
          registration_endpoint: `${issuer}/oauth/register`,
          revocation_endpoint: `${issuer}/oauth/revoke`,
          response_types_supported: ['code'],
          response_modes_supported: ['query'],
          grant_types_supported: ['authorization_code', 'refresh_token'],
          token_endpoint_auth_methods_supported: ['none'],
          revocation_endpoint_auth_methods_supported: ['none'],
          code_challenge_methods_supported: ['S256'],
          scopes_supported: ['mcp'],
          authorization_response_iss_parameter_supported: true,
          service_documentation: `${issuer}/docs/mcp`,
        }
      },
      route({
        name: 'getAuthorizationServer',
        summary: 'Describe the authorization server for MCP clients',
        description: 'RFC 8414. The server issues tokens for `/mcp` only; the rest of the API accepts keys.',
        tag: 'MCP',
        access: 'everyone',
        responses: { 200: AuthorizationServer },
      }),
    )
    .get(
      '/oauth/authorize',
      ({ request, set }) => {
        door.allowAnonymous(request, set)
        return respondWithPage(services, request, set, '/oauth')
      },
      { detail: { hide: true } },
    )
    .post(
      '/oauth/register',
      ({ request, set, server }) => {
        door.allowAnonymous(request, set)
        set.headers['cache-control'] = 'no-store'
        return inOAuthShape(set, async () => {
          const read = await readJsonBody(request, body)
          const registration = readRegistration(isObject(read) ? read : {})
          const window = oauth.registrations.take(addressOf(request, server))
          assertAllowed(window, clock.now(), 'registrations', 'an hour')
          const { id, name, redirectUris, createdAt } = await oauth.register(registration)
          set.status = 201
          return {
            client_id: id,
            client_id_issued_at: Math.floor(createdAt / 1000),
            client_name: name,
            redirect_uris: [...redirectUris],
            grant_types: ['authorization_code', 'refresh_token'],
            response_types: ['code'],
            token_endpoint_auth_method: 'none',
            scope: 'mcp',
          }
        })
      },
      route({
        name: 'registerClient',
        summary: 'Register an MCP client',
        description:
          'RFC 7591. Other members are ignored. A client has no secret. It is deleted when nobody signs in with it ' +
          "for a day. Redirect URIs use https, http on the user's machine, or a scheme of an installed application.",
        tag: 'MCP',
        access: 'everyone',
        body: ClientRegistration,
        responses: { 201: RegisteredClient, 400: OAuthRefusal },
        errors: ['RATE_LIMIT_EXCEEDED', 'OVERLOADED', 'STORAGE_UNAVAILABLE'],
      }),
    )
    .post(
      '/oauth/token',
      ({ request, set, server }) => {
        door.allowAnonymous(request, set)
        set.headers['cache-control'] = 'no-store'
        return inOAuthShape(set, () =>
          limited({ request, server }, async (form) => {
            const { accessToken, refreshToken, expiresInS } = await oauth.exchange(tokenRequestOf(form))
            return {
              access_token: accessToken,
              token_type: 'Bearer' as const,
              expires_in: expiresInS,
              refresh_token: refreshToken,
              scope: 'mcp',
            }
          }),
        )
      },
      route({
        name: 'getTokens',
        summary: 'Exchange a code or a refresh token for tokens',
        description:
          'The body is a form (`application/x-www-form-urlencoded`). Each refresh token works once. When a code or ' +
          'refresh token is used again, all tokens of the sign-in are revoked.',
        tag: 'MCP',
        access: 'everyone',
        isForm: true,
        body: TokenForm,
        responses: { 200: Tokens, 400: OAuthRefusal },
        errors: ['RATE_LIMIT_EXCEEDED', 'OVERLOADED', 'STORAGE_UNAVAILABLE'],
      }),
    )
    .post(
      '/oauth/revoke',
      ({ request, set, server }) => {
        door.allowAnonymous(request, set)
        set.headers['cache-control'] = 'no-store'
        return inOAuthShape(set, () =>
          limited({ request, server }, async (form) => {
            const [client, token] = [required(form, 'client_id'), required(form, 'token')]
            // The response does not reveal a wrong guess, but the service counts it.
            if (!oauth.isGenuine(token)) limits.takeRefused(addressOf(request, server))
            await oauth.revoke(client, token)
            return {}
          }),
        )
      },
      route({
        name: 'revokeToken',
        summary: 'Revoke a token, and all others of its sign-in',
        description: 'RFC 7009. The body is a form. The response is the same for a token that does not exist.',
        tag: 'MCP',
        access: 'everyone',
        isForm: true,
        body: RevocationForm,
        responses: { 200: t.Object({}), 400: OAuthRefusal },
        errors: ['RATE_LIMIT_EXCEEDED', 'OVERLOADED', 'STORAGE_UNAVAILABLE'],
      }),
    )
}

function tokenRequestOf(form: ReadonlyMap<string, string>): TokenRequest {
  const type = required(form, 'grant_type')
  const common = { clientId: required(form, 'client_id'), resource: form.get('resource') }
  if (type === 'refresh_token') return { ...common, refreshToken: required(form, 'refresh_token') }
  if (type !== 'authorization_code') {
    throw new OAuthError('unsupported_grant_type', 'grant_type must be authorization_code or refresh_token.')
  }
  return {
    ...common,
    code: required(form, 'code'),
    verifier: required(form, 'code_verifier'),
    redirectUri: required(form, 'redirect_uri'),
  }
}
