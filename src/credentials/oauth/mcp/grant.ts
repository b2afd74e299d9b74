import type { OpenCredential } from '../../../domain/credential/open-credential.ts'

/**
 * The result of a sign-in for an MCP server. It is stored with the token, so that the refresh token and the secret of
 * the client go to the authorization server that issued them, whatever the MCP server says later.
 */
export type McpGrant = {
  /** The address of the MCP server, as the credential has it. */
  server: string
  /** The identifier of the MCP server, which the authorization server binds tokens to. */
  resource: string
  issuer: string
  tokenUrl: string
  /** Whether the authorization server always names itself when it sends a person back. */
  namesIssuer: boolean
  client: McpClient
}

/** `secret`: of a client that registered itself. That of another one is in the credential. */
export type McpClient = { id: string; secret?: string; isRegistered: boolean; authMethod: 'basic' | 'post' }

/**
 * Whether a credential still says what it said at the sign-in. Otherwise its token is for another server, or its secret
 * for another authorization server: it was changed, or a variable in it was.
 */
export function isStillFor({ fields }: Pick<OpenCredential, 'fields'>, { server, issuer, client }: McpGrant): boolean {
  const { clientId = '', issuer: wanted = '' } = fields
  const isSameClient = clientId === (client.isRegistered ? '' : client.id)
  return fields['server'] === server && isSameClient && (wanted === '' || isSameUrl(String(wanted), issuer))
}

export function isSameUrl(one: string, other: string): boolean {
  const [first, second] = [URL.parse(one), URL.parse(other)]
  return first !== null && first.href === second?.href
}
