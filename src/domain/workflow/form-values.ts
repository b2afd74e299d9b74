import type { ErrorDetail } from '../errors.ts'
import { coerce, setMember } from '../run/input.ts'
import { type FieldFormat, mayChoose } from './field-kinds.ts'
import type { FormField } from './form.ts'

export type { FormField } from './form.ts'

/** The value of each field, null for an empty one; or one problem for each field that does not fit. */
export type FormReading = { ok: true; values: Record<string, unknown> } | { ok: false; details: ErrorDetail[] }

/**
 * Reads the fields that a person filled in: from the values of JSON, or from the texts of an HTML form. Empty texts and
 * lists count as not filled in. Members that are not fields are ignored. `isPartial`: required fields may be missing.
 * The pages of forms call the same function before they send.
 */
export function readForm(
  given: Readonly<Record<string, unknown>>,
  fields: readonly FormField[],
  { isPartial = false }: { isPartial?: boolean } = {},
): FormReading {
  const values: Record<string, unknown> = {}
  const details: ErrorDetail[] = []
  for (const field of fields) {
    const { name } = field
    const sent = Object.hasOwn(given, name) ? given[name] : null
    const reading = readField(sent, field)
    if ('problem' in reading) details.push({ path: name, message: reading.problem })
    else if (reading.value === null && field.required && !isPartial) {
      details.push({ path: name, message: missing(field) })
    } else setMember(values, name, reading.value)
  }
  return details.length > 0 ? { ok: false, details } : { ok: true, values }
}

/** The name of the field that people see. */
export function labelOf({ label, name }: Pick<FormField, 'label' | 'name'>): string {
  return label?.trim() || name
}

type FieldReading = { value: unknown } | { problem: string }

function readField(sent: unknown, field: FormField): FieldReading {
  if (isBlank(sent)) return { value: null }
  const value = valueIn(sent, field)
  if (value === undefined) return { problem: `${labelOf(field)} must be ${wanted(field)}.` }
  const { options } = field
  if (!options || options.length === 0 || !mayChoose(field)) return { value }
  const isOption = (one: unknown) => options.includes(String(one)) || options.includes(String(sent))
  if (Array.isArray(value) ? value.every((one) => options.includes(String(one))) : isOption(value)) return { value }
  const listed = options.slice(0, listedMax).join(', ')
  const more = options.length > listedMax ? ' and others' : ''
  return { problem: `${labelOf(field)} must be ${field.type === 'array' ? 'among' : 'one of'} ${listed}${more}.` }
}

const listedMax = 20

function isBlank(sent: unknown): boolean {
  if (sent === undefined || sent === null) return true
  return typeof sent === 'string' ? sent.trim() === '' : Array.isArray(sent) && sent.length === 0
}

/** The value, converted to the type of the field. Undefined when it does not fit. */
function valueIn(sent: unknown, { type, format, options }: FormField): unknown {
  switch (type) {
    case 'string': {
      const text = coerce(sent, 'string')
      return typeof text === 'string' ? formatted(text, format) : undefined
    }
    case 'number':
      return typeof sent === 'string' ? numberIn(sent) : coerce(sent, 'number')
    case 'boolean':
      // HTML forms send `on` for a checked box.
      return sent === 'on' ? true : coerce(sent, 'boolean')
    case 'array':
      // HTML forms send one value, or several of the same name.
      return options && options.length > 0 && typeof sent === 'string' ? [sent] : coerce(sent, 'array')
    case 'object':
    case 'files':
      return coerce(sent, type)
  }
}

function formatted(text: string, format: FieldFormat | undefined): string | undefined {
  const trimmed = text.trim()
  switch (format) {
    case 'email':
      return trimmed.length <= 254 && /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/.test(trimmed) ? trimmed : undefined
    case 'url':
      return isWebAddress(trimmed) ? trimmed : undefined
    case 'date':
      return isDate(trimmed) ? trimmed : undefined
    default:
      return text
  }
}

export function isWebAddress(text: string): boolean {
  return /^https?:\/\/[^/]/i.test(text) && URL.canParse(text)
}

/** A date as browsers send it: year, month and day. The day must exist. */
function isDate(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? []
  if (year === undefined) return false
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  return date.toISOString().startsWith(text)
}

/** People write numbers more freely than programs do: `1.50`, `+2`. */
function numberIn(text: string): number | undefined {
  const trimmed = text.trim()
  if (!/^[+-]?\d{1,100}(\.\d{1,100})?$/.test(trimmed)) return undefined
  const number = Number(trimmed)
  return Number.isInteger(number) && !Number.isSafeInteger(number) ? undefined : number
}

function wanted({ type, format }: FormField): string {
  switch (type) {
    case 'string':
      return format === undefined ? 'a text' : wantedFormats[format]
    case 'number':
      return 'a number, such as 12 or 12.5'
    case 'boolean':
      return 'yes or no'
    case 'array':
      return 'a list'
    case 'object':
      return 'an object: JSON such as { "name": "value" }'
    case 'files':
      return 'a list of files'
  }
}

const wantedFormats: Readonly<Record<FieldFormat, string>> = {
  line: 'a text',
  long: 'a text',
  email: 'an e-mail address, such as name@example.com',
  url: 'a web address, such as https://example.com',
  date: 'a date, such as 2027-01-31',
}

function missing(field: FormField): string {
  const { type, options = [] } = field
  if (type === 'files') return `Choose a file for ${labelOf(field)}.`
  const verb = options.length > 0 && mayChoose(field) ? 'Choose' : 'Fill in'
  return `${verb} ${labelOf(field)}.`
}
