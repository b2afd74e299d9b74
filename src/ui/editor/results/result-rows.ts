import type { ValueSchema } from '../../../domain/connector/connector.ts'
import { isRecord } from '../../../domain/edits/same-value.ts'

/** A member of a result. `schema`: what it is. */
export type ResultColumn = { name: string; schema: ValueSchema }

/** A result as its schema describes it: a list has a row for each entry, and an object has a row for each member. */
export type ResultRows = { isList: boolean; columns: readonly ResultColumn[]; rows: readonly Record<string, unknown>[] }

/** The rows of a result; undefined when the schema does not describe its members, or the result has another shape. */
export function resultRows(schema: ValueSchema, value: unknown): ResultRows | undefined {
  const members = schema.type === 'array' ? schema.items?.properties : schema.properties
  if (!members) return undefined
  const rows = schema.type === 'array' ? value : [value]
  if (!Array.isArray(rows) || !rows.every(isRecord)) return undefined
  // A member that no row has would be an empty column.
  const columns = Object.entries(members).filter(([name]) => rows.some((row) => row[name] !== undefined))
  if (rows.length > 0 && columns.length === 0) return undefined
  return { isList: schema.type === 'array', columns: columns.map(([name, each]) => ({ name, schema: each })), rows }
}

/** A value as a short text for a cell: a list by its entries, and an object by its described members. */
export function cellText(value: unknown, schema: ValueSchema): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) {
    const shown = value.slice(0, entriesMax).map((each) => cellText(each, schema.items ?? {}))
    return value.length > entriesMax ? `${shown.join(', ')}, …` : shown.join(', ')
  }
  if (isRecord(value)) {
    const described = Object.entries(schema.properties ?? {}).filter(([name]) => value[name] !== undefined)
    if (described.length > 0) return described.map(([name, each]) => cellText(value[name], each)).join(', ')
    return shortened(JSON.stringify(value))
  }
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  if (schema.format === 'date-time' && typeof value === 'string') return timeText(value)
  return shortened(String(value))
}

function timeText(value: string): string {
  const time = new Date(value)
  return Number.isNaN(time.getTime())
    ? value
    : time.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })
}

function shortened(text: string): string {
  return text.length > textMax ? `${text.slice(0, textMax - 1)}…` : text
}

const entriesMax = 10
const textMax = 300
