import { AppError } from '../domain/errors.ts'
import type { OutboundFetch } from '../domain/outbound-request.ts'

/** Loads a text that a user names by its URL, under the address rules of API blocks. CONFLICT says why that failed. */
export function loaderOf(fetch: OutboundFetch) {
  return async (workspaceId: string, url: string, signal: AbortSignal): Promise<string> => {
    const request = {
      url,
      method: 'GET',
      headers: [],
      followRedirects: 5,
      timeoutMs,
      responseBytesMax,
      signal,
      workspaceId,
    }
    const outcome = await fetch(request)
    if (!outcome.ok) throw new AppError('CONFLICT', `The document could not be loaded: ${outcome.message}`)
    const { status, body } = outcome.response
    if (status >= 400)
      throw new AppError('CONFLICT', `The document could not be loaded: its server responded with ${status}.`)
    return new TextDecoder().decode(body)
  }
}

const timeoutMs = 30_000
const responseBytesMax = 16_777_216
