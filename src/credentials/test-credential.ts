import { messageOf } from '../domain/errors.ts'
import { OutboundError, type OutboundFetch, type RequestAuthorization } from '../domain/outbound-request.ts'

export type TestCredential = (
  workspaceId: string,
  name: string,
  request: { url: string | undefined; method: string; signal: AbortSignal },
) => Promise<CredentialTestResult>

export type CredentialTestResult = { ok: boolean; status?: number; error?: string }

export type TestCredentialOptions = {
  credentialFor(workspaceId: string, name: string): Promise<RequestAuthorization | undefined>
  fetch: OutboundFetch
}

/** Tries a credential: prepares it, and calls a URL with it if there is one. */
export function createTestCredential({ credentialFor, fetch }: TestCredentialOptions): TestCredential {
  return async (workspaceId, name, { url, method, signal }) => {
    try {
      const authorization = await credentialFor(workspaceId, name)
      if (!authorization) return { ok: false, error: 'The credential was deleted.' }
      if (url === undefined) return { ok: true }
      const limits = { followRedirects: 5, timeoutMs, responseBytesMax }
      const outcome = await fetch({ ...{ url, method, headers: [], authorization, signal, workspaceId }, ...limits })
      if (!outcome.ok && outcome.status === undefined) return { ok: false, error: outcome.message }
      const status = outcome.ok ? outcome.response.status : outcome.status!
      return status < 400 ? { ok: true, status } : { ok: false, status, error: `The service responded with ${status}.` }
    } catch (error) {
      if (error instanceof OutboundError) return { ok: false, error: messageOf(error) }
      throw error
    }
  }
}

const timeoutMs = 15_000
/** The body is not shown. */
const responseBytesMax = 1_048_576
