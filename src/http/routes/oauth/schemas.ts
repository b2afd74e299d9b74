import { Type as t } from '@sinclair/typebox'

/** Members of the registration of a client that the service reads. */
export const ClientRegistration = t.Object({
  redirect_uris: t.Array(t.String({ maxLength: 2_000 }), { minItems: 1, maxItems: 10 }),
  client_name: t.Optional(t.String({ description: 'Shown to people when they consent; shortened to 80 characters.' })),
})

export const RegisteredClient = t.Object(
  {
    client_id: t.String(),
    client_id_issued_at: t.Integer({ description: 'Seconds since 1970.' }),
    client_name: t.String(),
    redirect_uris: t.Array(t.String()),
    grant_types: t.Array(t.String()),
    response_types: t.Array(t.String()),
    token_endpoint_auth_method: t.Literal('none'),
    scope: t.String(),
  },
  { $id: 'RegisteredClient' },
)

export const TokenForm = t.Object({
  grant_type: t.Union([t.Literal('authorization_code'), t.Literal('refresh_token')]),
  client_id: t.String(),
  code: t.Optional(t.String({ description: 'For `authorization_code`.' })),
  code_verifier: t.Optional(t.String({ description: 'For `authorization_code`: of PKCE.' })),
  redirect_uri: t.Optional(t.String({ description: 'For `authorization_code`: the one of the request.' })),
  refresh_token: t.Optional(t.String({ description: 'For `refresh_token`.' })),
  resource: t.Optional(t.String({ description: 'The address of the MCP server, as in the request.' })),
})

export const Tokens = t.Object(
  {
    access_token: t.String({ description: 'For `/mcp`, as a bearer token.' }),
    token_type: t.Literal('Bearer'),
    expires_in: t.Integer({ description: 'Seconds.' }),
    refresh_token: t.String(),
    scope: t.String(),
  },
  { $id: 'OAuthTokens' },
)

export const RevocationForm = t.Object({
  token: t.String({ description: 'An access token or a refresh token.' }),
  client_id: t.String(),
  token_type_hint: t.Optional(t.String({ description: 'Ignored.' })),
})

const urls = ['authorization_endpoint', 'token_endpoint', 'registration_endpoint', 'revocation_endpoint'] as const
const lists = [
  ...(['response_types_supported', 'response_modes_supported', 'grant_types_supported', 'scopes_supported'] as const),
  ...(['token_endpoint_auth_methods_supported', 'revocation_endpoint_auth_methods_supported'] as const),
  'code_challenge_methods_supported' as const,
]

export const AuthorizationServer = t.Object(
  {
    issuer: t.String(),
    ...membersOf(urls, () => t.String()),
    ...membersOf(lists, () => t.Array(t.String())),
    authorization_response_iss_parameter_supported: t.Boolean(),
    service_documentation: t.String(),
  },
  { $id: 'AuthorizationServer' },
)

function membersOf<Name extends string, Schema>(names: readonly Name[], make: () => Schema): Record<Name, Schema> {
  return Object.fromEntries(names.map((name) => [name, make()])) as Record<Name, Schema>
}
