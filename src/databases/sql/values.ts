import { jsonRefusal } from '../../domain/text/json.ts'

/** Values of databases as JSON data. Nothing here throws: a value in an unexpected form stays a text. */

/** A number if it is exact, else the text. */
export function integerOf(text: string): number | string {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : text
}

/** JSON has no NaN and no infinity. */
export function floatOf(text: string): number | string {
  const number = Number(text)
  return Number.isFinite(number) ? number : text
}

export function jsonOf(text: string): unknown {
  if (jsonRefusal(text) !== undefined) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** `2026-01-02 03:04:05.6+01` as `2026-01-02T02:04:05.6Z`; without an offset as `2026-01-02T03:04:05.6`. */
export function isoTime(text: string): string {
  const match = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(\.\d+)?([+-]\d\d(?::?\d\d){0,2})?$/.exec(text)
  if (!match) return text
  const [, date, time, fraction = '', offset] = match
  if (offset === undefined) return `${date}T${time}${fraction}`
  const [hours = 0, minutes = 0, seconds = 0] = (offset.match(/\d\d/g) ?? []).map(Number)
  const shift = (hours * 3600 + minutes * 60 + seconds) * 1000 * (offset.startsWith('-') ? -1 : 1)
  const at = new Date(Date.parse(`${date}T${time}Z`) - shift)
  return Number.isNaN(at.getTime()) ? text : `${at.toISOString().slice(0, 19)}${fraction}Z`
}

/** A row by column; of columns with the same name, the last one counts. A column may have any name. */
export function rowOf(columns: readonly { name: string }[], values: readonly unknown[]): Record<string, unknown> {
  return Object.fromEntries(columns.map(({ name }, index) => [name, values[index] ?? null]))
}
