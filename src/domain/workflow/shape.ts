import { Kind, OptionalKind, type TSchema } from '@sinclair/typebox'
import { Value, type ValueError, ValueErrorType } from '@sinclair/typebox/value'
import type { ErrorDetail } from '../errors.ts'

/** More findings than this do not help the reader. */
export const validationErrorsMax = 100

/**
 * Every difference between a value and a schema, explained for people: one row per position, `path` as in
 * `edges[2].source`. Empty when the value is valid. A schema's keyword `expected` ("letters and digits") replaces the
 * generated description.
 */
export function findValidationErrors(schema: TSchema, value: unknown): ErrorDetail[] {
  // Listing the errors takes ten times as long as checking.
  if (Value.Check(schema, value)) return []
  const errors = new Map<string, ErrorDetail>()
  for (const error of Value.Errors(schema, value)) {
    const path = pathOf(error.path)
    // A missing member is reported twice: as missing, and as undefined of the wrong type.
    if (!errors.has(path)) errors.set(path, { path, message: `${path || 'The value'} ${complaint(error)}.` })
    // The entries of an overlong list are not checked: there may be a hundred thousand.
    if (error.type === ValueErrorType.ArrayMaxItems || errors.size >= validationErrorsMax) break
  }
  return [...errors.values()]
}

/** `/edges/2/source` → `edges[2].source`. */
function pathOf(pointer: string): string {
  const steps = pointer.split('/').slice(1)
  return steps
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((step, index) => (/^\d+$/.test(step) ? `[${step}]` : index === 0 ? step : `.${step}`))
    .join('')
}

function complaint({ type, schema, value }: ValueError): string {
  switch (type) {
    case ValueErrorType.ObjectRequiredProperty:
      return `is missing; it must be ${describeSchema(schema)}`
    case ValueErrorType.StringMinLength:
      return 'must not be empty'
    case ValueErrorType.StringMaxLength:
      return `must have at most ${schema['maxLength']} characters, not ${(value as string).length}`
    case ValueErrorType.ArrayMaxItems:
      return `must have at most ${schema['maxItems']} entries, not ${(value as unknown[]).length}`
    case ValueErrorType.ArrayMinItems:
    case ValueErrorType.ArrayUniqueItems:
      return `must be ${describeSchema(schema)}`
    case ValueErrorType.ObjectAdditionalProperties:
      return 'is not known here'
    default:
      // A finding is shown to people who may not see the value of a secret.
      if (schema['secret'] === true) return `must be ${describeSchema(schema)}`
      return `must be ${describeSchema(schema)}, not ${describeValue(value)}`
  }
}

/** A description of a valid value: "text", "a list", `one of "for", "forEach"`. */
export function describeSchema(schema: TSchema): string {
  if (typeof schema['expected'] === 'string') return schema['expected']
  switch (schema[Kind]) {
    case 'Literal':
      return JSON.stringify(schema['const'])
    case 'Union':
      return describeUnion(schema['anyOf'] as TSchema[])
    case 'String':
      return 'text'
    case 'Integer':
      return `a whole number${range(schema)}`
    case 'Number':
      return `a number${range(schema)}`
    case 'Boolean':
      return 'true or false'
    case 'Array':
      return 'a list'
    case 'Object':
    case 'Record':
      return 'an object'
    case 'Null':
      return 'null'
    default:
      return schema[OptionalKind] ? 'absent' : 'a value of another kind'
  }
}

function describeUnion(members: TSchema[]): string {
  const literals = members.every((member) => member[Kind] === 'Literal')
  return literals
    ? `one of ${members.map((member) => JSON.stringify(member['const'])).join(', ')}`
    : members.map(describeSchema).join(' or ')
}

function range({ minimum, maximum }: TSchema): string {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`
  if (minimum !== undefined) return ` of at least ${minimum}`
  return maximum === undefined ? '' : ` of at most ${maximum}`
}

/** Describes a value without repeating a long one. */
function describeValue(value: unknown): string {
  if (value === undefined) return 'absent'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  const text = JSON.stringify(value) ?? String(value)
  if (typeof value !== 'string') return text
  return text.length <= 40 ? `the text ${text}` : `a text of ${value.length} characters`
}
