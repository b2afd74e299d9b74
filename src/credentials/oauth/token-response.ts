import type { OutboundOutcome } from '../../domain/outbound-request.ts'
import { isObject } from '../../domain/run/input.ts'

/**
 * The response of a token endpoint in the form that the standard demands. Some servers send forms instead of JSON,
 * errors with status 200, numbers as text, or no token type.
 */
export function tokenResponseOf({ status, headers, body }: Received): Response {
  const text = new TextDecoder().decode(body)
  const type = String(headers['content-type'] ?? '')
  const members = type.includes('form-urlencoded') ? Object.fromEntries(new URLSearchParams(text)) : parsed(text)
  if (members === undefined) return respond({ error: 'invalid_response', error_description: textStart(text) }, 400)
  const isError = typeof members['error'] === 'string' && members['access_token'] === undefined
  if (isError || status >= 400) return respond(errorOf(members, status), status >= 400 && status < 500 ? status : 400)
  const seconds = Number(members['expires_in'])
  // The service does not use an ID token, so a strange one must not fail the sign-in.
  const { expires_in: _, id_token: __, ...rest } = members
  const expiry = members['expires_in'] != null && Number.isFinite(seconds) ? { expires_in: seconds } : {}
  return respond({ token_type: 'bearer', ...rest, ...expiry }, 200)
}

type Received = Pick<Extract<OutboundOutcome, { ok: true }>['response'], 'status' | 'headers' | 'body'>

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}

function errorOf(members: Record<string, unknown>, status: number): Record<string, unknown> {
  const { error } = members
  // Some servers nest it.
  const { code, message } = isObject(error) ? error : {}
  const name = typeof error === 'string' ? error : String(code ?? `status_${status}`)
  const described = members['error_description'] ?? message
  return { error: name, ...(typeof described === 'string' ? { error_description: described } : {}) }
}

function textStart(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line === '' ? 'The response is empty.' : line.slice(0, 100)
}

function respond(members: object, status: number): Response {
  return Response.json(members, { status })
}
