import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js'
import type {
  OAuthClientInformationMixed,
  OAuthClientMetadata,
  OAuthTokens,
} from '@modelcontextprotocol/sdk/shared/auth.js'

/** The memory of a desktop client, for the official client: its registration, its tokens, and the address to open. */
export class DesktopClient implements OAuthClientProvider {
  readonly redirectUrl: string
  readonly clientMetadata: OAuthClientMetadata
  client: OAuthClientInformationMixed | undefined
  kept: OAuthTokens | undefined
  /** The page that it opened in the browser. */
  opened: URL | undefined
  #verifier = ''

  constructor(redirectUrl = 'http://127.0.0.1:4711/callback') {
    this.redirectUrl = redirectUrl
    this.clientMetadata = { client_name: 'Desk', redirect_uris: [redirectUrl] }
  }

  state = () => 'a state'
  clientInformation = () => this.client
  saveClientInformation(client: OAuthClientInformationMixed): void {
    this.client = client
  }
  tokens = () => this.kept
  saveTokens(tokens: OAuthTokens): void {
    this.kept = tokens
  }
  redirectToAuthorization(url: URL): void {
    this.opened = url
  }
  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier
  }
  codeVerifier = () => this.#verifier
  invalidateCredentials(scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): void {
    if (scope === 'all' || scope === 'tokens') this.kept = undefined
    if (scope === 'all' || scope === 'client') this.client = undefined
  }
}

/** Answers the authorization page with the requests that the page sends. Returns the address of the client. */
export async function consent(
  origin: string,
  cookie: string,
  page: URL,
  workspaceId: string | undefined,
): Promise<URL> {
  const response = await fetch(`${origin}/api/editor/applications/consent`, {
    method: 'POST',
    headers: { cookie, origin },
    body: JSON.stringify({ query: page.search.slice(1), workspaceId }),
  })
  const answer = (await response.json()) as { redirectTo: string }
  if (!response.ok) throw new Error(`The consent was refused: ${JSON.stringify(answer)}`)
  return new URL(answer.redirectTo)
}
