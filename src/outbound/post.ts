import { OutboundError, type OutboundOpen, type OutboundPost, type OutboundPosted } from '../domain/outbound-request.ts'

/** Sends a request and reads the beginning of its answer. Never throws. */
export function createPost(open: OutboundOpen): (request: OutboundPost) => Promise<OutboundPosted> {
  return async ({ answerBytes, ...request }) => {
    const opened = await open({
      ...request,
      method: 'POST',
      followRedirects: 0,
      answerBytesMax: Number.MAX_SAFE_INTEGER,
    })
    if (!opened.ok) return opened
    const { status, headers, body } = opened.answer
    const retryAfter = headers['retry-after']
    const parts: Uint8Array[] = []
    let bytes = 0
    const reader = body.getReader()
    try {
      while (bytes < answerBytes) {
        const { value } = await reader.read()
        if (!value) break
        parts.push(value)
        bytes += value.byteLength
      }
    } catch (error) {
      const { code, message } =
        error instanceof OutboundError ? error : new OutboundError('CONNECTION_FAILED', String(error))
      return { ok: false, code, message, status, headers }
    } finally {
      reader.cancel().catch(() => {})
    }
    return {
      ok: true,
      status,
      retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined,
      answer: Buffer.concat(parts).subarray(0, answerBytes),
    }
  }
}
