import { type AppError, boundedDetails, clip } from '../../../domain/errors.ts'
import { isObject } from '../../../domain/run/input.ts'

/** The result of a tool as JSON text: the value as text for models, and as `structuredContent` for programs. */
export function valueResult(value: unknown): string {
  return resultOf(JSON.stringify(value) ?? 'null', isObject(value))
}

/** The same for a value that is JSON text already. `structuredContent` must be an object. */
export function resultOf(text: string, isRecord: boolean): string {
  const structured = isRecord ? text : `{"output":${text}}`
  return `{"content":[{"type":"text","text":${JSON.stringify(text)}}],"structuredContent":${structured}}`
}

/** A text for the model with facts for programs. */
export function textResult(text: string, structured: object, isError = false): string {
  const result = { content: [{ type: 'text', text }], structuredContent: structured }
  return JSON.stringify(isError ? { ...result, isError: true } : result)
}

/** A refusal that the model can read and correct: it is a result, not an error of the protocol. */
export function refusalResult({ code, message, details = [], retryAfterS }: AppError): string {
  const rows = boundedDetails(details)
  const lines = rows.map(({ path, message: each }) => {
    return path === '' || each.startsWith(path) ? each : `${path}: ${each}`
  })
  // Many messages only join the details, which say where, too.
  const isJoined = rows.length > 0 && message === rows.map((row) => row.message).join(' ')
  const head = isJoined ? (lines.length === 1 ? lines.splice(0) : []) : [clip(message, 4_000)]
  const wait = retryAfterS === undefined ? [] : [`Try again in ${retryAfterS} s.`]
  const text = [`${code}: ${head.join('')}`.trimEnd(), ...lines.map((line) => `- ${line}`), ...wait].join('\n')
  return textResult(text, { code, error: clip(message, 4_000), details: rows }, true)
}
