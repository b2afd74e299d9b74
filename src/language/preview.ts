import { finish } from '../domain/slices.ts'
import { asText, endsInString, parseTemplate, type Segment } from '../domain/workflow/reference.ts'
import { readExpression } from './expression.ts'
import { NotNative } from './work.ts'

/** The result of a template or an expression with the values of a run. It is evaluated in place and sends nothing. */
export type Preview =
  | { kind: 'value'; value: unknown }
  /** These references have no value. */
  | { kind: 'missing'; sources: readonly string[] }
  /** The result depends on these values, which are hidden or shortened. */
  | { kind: 'hidden'; sources: readonly string[] }
  /** The evaluation failed, or the text cannot be read. */
  | { kind: 'failed'; message: string }
  /** Only a run can tell: the expression needs the sandbox. */
  | { kind: 'unknown' }

type Reference = Extract<Segment, { kind: 'reference' }>

/** The value of a reference; `isHidden`: it is incomplete. Undefined for text that only looks like a reference. */
export type Lookup = (reference: Reference) => { value: unknown; isHidden: boolean } | undefined

/** Where the values come from, and what is missing. */
class Reading {
  readonly #lookup: Lookup
  readonly missing = new Set<string>()
  readonly hidden = new Set<string>()

  constructor(lookup: Lookup) {
    this.#lookup = lookup
  }

  isReference(segment: Exclude<Segment, { kind: 'text' }>): boolean {
    return segment.kind === 'environment' || this.#lookup(segment) !== undefined
  }

  /** Environment variables are never shown. */
  value(segment: Exclude<Segment, { kind: 'text' }>): unknown {
    if (segment.kind === 'environment') {
      this.hidden.add(segment.source)
      return segment.source
    }
    const found = this.#lookup(segment)
    if (!found) return segment.source
    if (found.isHidden) this.hidden.add(segment.source)
    if (found.value === undefined) this.missing.add(segment.source)
    return found.value
  }
}

/** The result of a template: texts in a value of any kind. Hidden values appear in their hidden form. */
export function previewTemplate(value: unknown, lookup: Lookup): Preview {
  const reading = new Reading(lookup)
  const result = filled(value, reading)
  return reading.missing.size > 0
    ? { kind: 'missing', sources: [...reading.missing] }
    : { kind: 'value', value: result }
}

function filled(value: unknown, reading: Reading): unknown {
  if (typeof value === 'string') return filledText(value, reading)
  if (Array.isArray(value)) return value.map((item) => filled(item, reading))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, filled(item, reading)]))
}

function filledText(text: string, reading: Reading): unknown {
  const segments = parseTemplate(text)
  const [only] = segments
  if (segments.length === 1 && only && only.kind !== 'text') return reading.value(only)
  return segments.map((part) => (part.kind === 'text' ? part.text : asText(reading.value(part)))).join('')
}

/** The result of JSON text. A reference stands for a value, or for text inside a string. */
export function previewJson(text: string, lookup: Lookup): Preview {
  const reading = new Reading(lookup)
  let inString = false
  const json = parseTemplate(text).map((part) => {
    if (part.kind === 'text' || !reading.isReference(part)) {
      const literal = part.kind === 'text' ? part.text : part.source
      inString = endsInString(literal, inString)
      return literal
    }
    const value = reading.value(part)
    return inString ? JSON.stringify(asText(value)).slice(1, -1) : JSON.stringify(value ?? null)
  })
  if (reading.missing.size > 0) return { kind: 'missing', sources: [...reading.missing] }
  try {
    return { kind: 'value', value: JSON.parse(json.join('')) as unknown }
  } catch {
    return { kind: 'failed', message: 'This is not JSON yet.' }
  }
}

/** The result of an expression. `workMax` limits the work, as in a run. */
export function previewExpression(source: string, lookup: Lookup, workMax: number): Preview {
  const reading = new Reading(lookup)
  const compiled = finish(readExpression(source, (segment) => reading.isReference(segment)))
  if (!compiled.ok) return { kind: 'failed', message: `${compiled.problem.message}.` }
  const { native, slots } = compiled
  const values = slots.map(({ segment, as }) => {
    const value = reading.value(segment)
    return as === 'text' ? asText(value) : (value ?? null)
  })
  if (reading.hidden.size > 0) return { kind: 'hidden', sources: [...reading.hidden] }
  if (reading.missing.size > 0) return { kind: 'missing', sources: [...reading.missing] }
  if (!native) return { kind: 'unknown' }
  try {
    return { kind: 'value', value: native(values, workMax) }
  } catch (error) {
    if (error instanceof NotNative) return { kind: 'unknown' }
    return { kind: 'failed', message: `${(error as Error).message}.` }
  }
}
