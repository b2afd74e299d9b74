import { AppError } from '../../../domain/errors.ts'
import type { RunEnd } from '../../../engine/run/run-end.ts'
import { runResponse, type Writing } from '../run-response.ts'

/** The most characters of a response that is stored for repeats. */
export const heldCharsMax = 1_048_576

/** `body`: null when the response was too large to be stored. */
type Held = { status: number; headers: [string, string][]; body: string | null }

/** The response for a run, as it is stored for repeats of its request. */
export async function heldResponse(end: RunEnd, { inSlices }: Pick<Writing, 'inSlices'>): Promise<string> {
  const unsent = { body: (_: string, text: string) => text, hold: () => () => undefined }
  return await heldText(await runResponse(end, {}, { inSlices, unsent }))
}

/** A response as it is stored. */
export async function heldText(response: Response): Promise<string> {
  const text = await response.text()
  const { status, headers } = response
  const held: Held = { status, headers: [...headers], body: text.length > heldCharsMax ? null : text }
  return JSON.stringify(held)
}

/** The response for a repeat. `headers`: those that every response of the endpoint has. */
export function replayedResponse(text: string, executionId: string, headers: Record<string, string>): Response {
  const { status, headers: own, body } = JSON.parse(text) as Held
  if (body === null) throw notStored(executionId)
  const sent = new Headers({ ...headers, 'x-execution-id': executionId, 'idempotent-replayed': 'true' })
  for (const [name, value] of own) {
    if (name === 'set-cookie') sent.append(name, value)
    else if (name === 'content-type' || !sent.has(name)) sent.set(name, value)
  }
  const hasNoBody = status === 204 || status === 205 || status === 304
  return new Response(hasNoBody ? null : body, { status, headers: sent })
}

/** The run succeeded and must not run again, but its response cannot be sent. */
export function notStored(executionId: string): AppError {
  return new AppError(
    'CONFLICT',
    `The run ${executionId} of this request succeeded, but its response is not stored: it has more than ` +
      `${heldCharsMax} characters, or its key was lost. Read the output in the log entry of the run.`,
  )
}
