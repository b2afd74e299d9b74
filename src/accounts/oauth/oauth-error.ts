/** The error codes of OAuth that clients get (RFC 6749, RFC 7591, RFC 8707). */
export type OAuthErrorCode =
  | ('invalid_request' | 'invalid_client' | 'invalid_grant' | 'invalid_target' | 'invalid_redirect_uri')
  | ('invalid_client_metadata' | 'unsupported_grant_type' | 'unsupported_response_type' | 'access_denied')

/** A refusal that a client of OAuth understands. The message is for people. */
export class OAuthError extends Error {
  override readonly name = 'OAuthError'
  readonly code: OAuthErrorCode

  constructor(code: OAuthErrorCode, message: string) {
    super(message)
    this.code = code
  }
}
