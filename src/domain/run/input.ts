import type { ErrorDetail } from '../errors.ts'
import { jsonRefusal } from '../text/json.ts'
import type { TraceParent } from '../trace-context.ts'
import type { FieldType, InputField } from '../workflow/workflow.ts'
import type { RunFile } from './file.ts'

/** The input of a run: the whole input, and each declared field (null when it is missing). Plain JSON. */
export type TriggerInput = {
  input: Record<string, unknown>
  fields: Record<string, unknown>
  /** The files in the input; absent when there are none. */
  files?: readonly RunFile[]
  /** The earlier messages of a chat. */
  history?: readonly ChatMessage[]
  /** The time limit that the caller of an asynchronous run asked for. It is kept with the input of the job. */
  timeoutMs?: number
  /** The caller's place in a distributed trace. It is kept with the input of the job, too. */
  traceParent?: TraceParent
}

/** One message of a chat. */
export type ChatMessage = { role: 'user' | 'assistant'; content: string }

export type InputReading = { ok: true; value: TriggerInput } | { ok: false; details: ErrorDetail[] }

/**
 * Checks a run's input against its input format. Coerces a value if no information is lost, and reports all others, one
 * row per field. `samples` fills missing fields from their `value` column (manual runs).
 */
export function readInput(
  input: Record<string, unknown>,
  format: readonly InputField[],
  options: { samples?: boolean } = {},
): InputReading {
  if (format.length === 0) return { ok: true, value: { input, fields: {} } }
  const whole = { ...input }
  const fields: Record<string, unknown> = {}
  const details: ErrorDetail[] = []
  for (const field of format) {
    const given = Object.hasOwn(input, field.name) ? input[field.name] : undefined
    const sent = (given ?? undefined) === undefined && options.samples ? sampleOf(field) : given
    if (sent === undefined || sent === null) {
      if (field.required) details.push({ path: field.name, message: `The field "${field.name}" is required.` })
      setMember(fields, field.name, null)
      continue
    }
    const coerced = coerce(sent, field.type)
    if (coerced === undefined) {
      details.push({
        path: field.name,
        message: `The field "${field.name}" must be ${wanted[field.type]}. The value is ${describe(sent)}.`,
      })
      continue
    }
    setMember(fields, field.name, coerced)
    setMember(whole, field.name, coerced)
  }
  return details.length > 0 ? { ok: false, details } : { ok: true, value: { input: whole, fields } }
}

/** The input in a request body: without control members, with a lone `input` object unwrapped, a non-object wrapped. */
export function inputOf(body: unknown, format: readonly InputField[]): Record<string, unknown> {
  if (!isObject(body)) return { input: body }
  if (!('stream' in body || 'selectedOutputs' in body || 'input' in body)) return body
  const { stream: _stream, selectedOutputs: _selected, ...rest } = body
  const inner = rest['input']
  const lone = Object.hasOwn(rest, 'input') && Object.keys(rest).length === 1
  return lone && isObject(inner) && !format.some((field) => field.name === 'input') ? inner : rest
}

/** The value as the given type, or undefined when the conversion would lose information. Never called with null. */
export function coerce(value: unknown, type: FieldType): unknown {
  switch (type) {
    case 'string':
      if (typeof value === 'string') return value
      return typeof value === 'boolean' || (typeof value === 'number' && isExact(value)) ? String(value) : undefined
    case 'number':
      if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
      return typeof value === 'string' && isDecimal(value) ? Number(value) : undefined
    case 'boolean':
      if (typeof value === 'boolean') return value
      return value === 'true' ? true : value === 'false' ? false : undefined
    case 'object':
      if (typeof value === 'string') return parsed(value, isObject)
      return isObject(value) ? value : undefined
    case 'array':
      if (typeof value === 'string') return parsed(value, Array.isArray)
      return Array.isArray(value) ? value : undefined
    case 'files':
      return Array.isArray(value) ? value : isObject(value) ? [value] : undefined
  }
}

/** Sets an own member of any name. Plain assignment of `__proto__` would change the prototype instead. */
export function setMember(target: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') target[name] = value
  else Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true })
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const wanted: Record<FieldType, string> = {
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
  files: 'an array of file items',
}

function sampleOf(field: InputField): unknown {
  return field.value === '' && field.type !== 'string' ? undefined : field.value
}

/** False for numbers that JavaScript cannot hold as sent: `1e999`, and whole numbers beyond 2^53. */
function isExact(value: number): boolean {
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
}

function isDecimal(text: string): boolean {
  return text !== '' && String(Number(text)) === text && Number.isFinite(Number(text))
}

function parsed(text: string, accepts: (value: unknown) => boolean): unknown {
  if (jsonRefusal(text) !== undefined) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return accepts(value) ? value : undefined
  } catch {
    return undefined
  }
}

function describe(value: unknown): string {
  // JSON allows larger numbers than JavaScript can hold.
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) return 'a number that is too large'
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 60 ? `${text.slice(0, 57)}...` : text
}
