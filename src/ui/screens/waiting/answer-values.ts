import type { PauseField } from './pause-queries.ts'

/** The values that people have typed, by field. A choice of yes or no is a boolean. */
export type Typed = Readonly<Record<string, string | boolean>>

const plainTypes = ['string', 'number', 'boolean', 'object', 'array']

/** Whether the dashboard can ask for these fields. The page of the pause asks for all others. */
export function canAskFor(fields: readonly PauseField[]): boolean {
  return fields.every(({ type, options }) => plainTypes.includes(type) && !(type === 'array' && options.length > 0))
}

/** The fields of an answer, without empty texts. Text that is not valid JSON stays text, which the service refuses. */
export function answerOf(fields: readonly PauseField[], typed: Typed): Record<string, unknown> {
  const entries = fields.flatMap(({ name, type }): [string, unknown][] => {
    const value = Object.hasOwn(typed, name) ? typed[name] : undefined
    if (type === 'boolean') return [[name, value === true]]
    if (value === undefined || value === '') return []
    return [[name, type === 'object' || type === 'array' ? jsonOf(String(value)) : value]]
  })
  return Object.fromEntries(entries)
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The value of a `datetime-local` input: local time to the minute. */
export function localMinute(at: number): string {
  const local = new Date(at - new Date(at).getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 16)
}
