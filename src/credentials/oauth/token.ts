import type { TokenEndpointResponse } from 'oauth4webapi'
import type { OpenCredential } from '../../domain/credential/open-credential.ts'
import { OutboundError } from '../../domain/outbound-request.ts'
import type { McpGrant } from './mcp/grant.ts'

/** The response of a token endpoint. `lifetimeS`: undefined when the server does not say. */
export type IssuedToken = { accessToken: string; lifetimeS: number | undefined; refreshToken: string | undefined }

/** `refreshAt`: when another one should be got. Epoch milliseconds. `grant`: of a sign-in for an MCP server. */
export type Token = {
  accessToken: string
  refreshAt: number
  expiresAt: number | null
  refreshToken?: string
  grant?: McpGrant
}

export function issuedBy(response: TokenEndpointResponse): IssuedToken {
  const { access_token: accessToken, expires_in: lifetimeS, refresh_token: refreshToken } = response
  return { accessToken, lifetimeS, refreshToken }
}

/**
 * A tenth of the lifetime early, at most five minutes. The lifetime began when the token was asked for. A server that
 * sends no other refresh token keeps the present one.
 */
export function tokenFrom(
  { accessToken, lifetimeS, refreshToken }: IssuedToken,
  askedAt: number,
  kept?: string,
): Token {
  const lifetimeMs = (lifetimeS ?? unknownLifetimeS) * 1_000
  const expiresAt = askedAt + lifetimeMs
  const refreshAt = expiresAt - Math.min(lifetimeMs / 10, earlyMsMax)
  const next = refreshToken ?? kept
  return {
    ...{ accessToken, refreshAt, expiresAt: lifetimeS === undefined ? null : expiresAt },
    ...(next === undefined ? {} : { refreshToken: next }),
  }
}

export function needsSignIn({ name }: OpenCredential, why: string, cause?: unknown): OutboundError {
  const message = `The credential "${name}" needs someone to sign in${why}. Sign in on the page of credentials.`
  return new OutboundError('CREDENTIAL_SIGN_IN', message, cause)
}

const earlyMsMax = 300_000
/** For servers that do not say how long a token is valid. */
const unknownLifetimeS = 3_600
