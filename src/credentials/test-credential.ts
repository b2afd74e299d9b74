import { DatabaseError } from '../domain/database/database.ts'
import { MailError } from '../domain/mail/mail.ts'
import { OutboundError, type OutboundFetch, type RequestAuthorization } from '../domain/outbound-request.ts'
import { type Redactor, redactText } from '../domain/redaction/redactor.ts'

export type TestCredential = (
  workspaceId: string,
  name: string,
  request: { url: string | undefined; method: string; signal: AbortSignal },
) => Promise<CredentialTestResult>

export type CredentialTestResult = { ok: boolean; status?: number; error?: string }

export type TestCredentialOptions = {
  credentialFor(workspaceId: string, name: string): Promise<RequestAuthorization | undefined>
  /** Gets a token if the credential needs one. Throws `OutboundError`. */
  prepare(workspaceId: string, name: string): Promise<void>
  /**
   * Connects to the server of a credential that has a server of another protocol than HTTP, and logs in; false for
   * other credentials. Throws `OutboundError`, `MailError` or `DatabaseError`.
   */
  connect(workspaceId: string, name: string, signal: AbortSignal): Promise<boolean>
  fetch: OutboundFetch
  /** Knows the secrets of a workspace. */
  redactorOf(workspaceId: string): Promise<Redactor | undefined>
}

/** Tries a credential: connects to its server, or prepares it and calls a URL with it if there is one. */
export function createTestCredential({
  credentialFor,
  prepare,
  connect,
  fetch,
  redactorOf,
}: TestCredentialOptions): TestCredential {
  const send = async (
    ...[workspaceId, name, { url, method, signal }]: Parameters<TestCredential>
  ): Promise<CredentialTestResult> => {
    const authorization = await credentialFor(workspaceId, name)
    if (!authorization) return { ok: false, error: 'The credential was deleted.' }
    if (await connect(workspaceId, name, signal)) return { ok: true }
    if (url === undefined) return await prepare(workspaceId, name).then(() => ({ ok: true }))
    const limits = { followRedirects: 5, timeoutMs, responseBytesMax }
    const redactor = await redactorOf(workspaceId)
    const outcome = await fetch({
      ...{ url, method, headers: [], authorization, signal, workspaceId, redactor },
      ...limits,
    })
    if (!outcome.ok && outcome.status === undefined) return { ok: false, error: outcome.message }
    const status = outcome.ok ? outcome.response.status : outcome.status!
    return status < 400 ? { ok: true, status } : { ok: false, status, error: `The service responded with ${status}.` }
  }
  return async (workspaceId, name, request) => {
    const { error, ...result } = await send(workspaceId, name, request).catch(refusal)
    // A server may repeat secrets in its errors.
    return error === undefined ? result : { ...result, error: redactText(error, await redactorOf(workspaceId)) }
  }
}

function refusal(error: unknown): CredentialTestResult {
  const isExpected = error instanceof OutboundError || error instanceof MailError || error instanceof DatabaseError
  if (isExpected) return { ok: false, error: error.message }
  throw error
}

const timeoutMs = 15_000
/** The body is not shown. */
const responseBytesMax = 1_048_576
