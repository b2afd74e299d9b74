import { OAuthError } from '../../../accounts/oauth/oauth-error.ts'

/** The name and the redirect URIs in a registration (RFC 7591). Throws OAuthError. Other members are ignored. */
export function readRegistration(body: Record<string, unknown>): { name: string; redirectUris: string[] } {
  const { redirect_uris: uris, client_name: name } = body
  const isList = Array.isArray(uris) && uris.length > 0 && uris.every((uri) => typeof uri === 'string')
  if (!isList) {
    throw new OAuthError('invalid_redirect_uri', 'redirect_uris must be a list of 1 to 10 absolute URIs.')
  }
  if (uris.length > redirectUrisMax) {
    throw new OAuthError(
      'invalid_redirect_uri',
      `redirect_uris has ${uris.length} entries; ${redirectUrisMax} are allowed.`,
    )
  }
  if (name !== undefined && typeof name !== 'string') {
    throw new OAuthError('invalid_client_metadata', 'client_name must be a text.')
  }
  return { name: shownName(name ?? ''), redirectUris: uris as string[] }
}

/** A name as the consent page shows it: one short line, without characters that reorder or hide text. */
function shownName(name: string): string {
  const line = name
    .slice(0, 1_000)
    .replace(/[\p{C}\p{Z}]+/gu, ' ')
    .trim()
  return [...line].slice(0, nameCharsMax).join('') || 'Unnamed application'
}

const redirectUrisMax = 10
const nameCharsMax = 80
