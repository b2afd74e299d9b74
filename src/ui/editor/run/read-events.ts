import { ApiError } from '../../api/api-error.ts'

/** Reads a stream of server-sent events until `[DONE]`. `request`: a GET without a body when absent. */
export async function* readEvents(
  address: string,
  signal: AbortSignal,
  request: RequestInit = {},
): AsyncGenerator<unknown> {
  const response = await fetch(address, { ...request, signal, credentials: 'same-origin' })
  if (!response.ok || !response.body) {
    const { error, code } = (await response.json().catch(() => ({}))) as { error?: string; code?: string }
    throw new ApiError(response.status, code ?? 'UNKNOWN', error ?? `The service returned status ${response.status}.`)
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const parts = (rest + value).split('\n\n')
      rest = parts.pop() ?? ''
      for (const part of parts) {
        const data = dataOf(part)
        if (data === '[DONE]') return
        if (data !== undefined) yield JSON.parse(data)
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

export function eventsAddress(executionId: string): string {
  return `/api/editor/runs/${encodeURIComponent(executionId)}/events`
}

/** Comment lines only keep the connection open. */
function dataOf(message: string): string | undefined {
  const lines = message.split('\n').flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trimStart()] : []))
  return lines.length === 0 ? undefined : lines.join('\n')
}
