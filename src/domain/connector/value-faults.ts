import { coerce, isObject } from '../run/input.ts'
import type { ValueSchema } from './connector.ts'

/** A part of a value that does not fit its schema. `path`: such as `items.0.name`, empty for the value itself. */
export type ValueFault = { path: string; message: string }

/** More faults than this do not help the reader. */
const faultsMax = 50

/**
 * Everything in which a value differs from its schema, for people. `isOpen`: whether a value is filled in later, such
 * as a text with references, and so cannot be checked now. Numbers and booleans may come as text.
 */
export function valueFaults(
  schema: ValueSchema,
  value: unknown,
  isOpen: (value: unknown) => boolean = () => false,
): ValueFault[] {
  const faults: ValueFault[] = []
  collect(schema, value, '', isOpen, faults)
  return faults
}

type IsOpen = (value: unknown) => boolean

function collect(schema: ValueSchema, value: unknown, path: string, isOpen: IsOpen, faults: ValueFault[]): void {
  if (faults.length >= faultsMax || isOpen(value)) return
  const complain = (message: string) => void faults.push({ path, message })
  const given = schema.type === undefined ? value : (fitted(schema.type, value) ?? null)
  if (given === null && value !== null) return void complain(`must be ${typeWords[schema.type ?? ''] ?? schema.type}`)
  if (schema.enum && !schema.enum.some((choice) => choice === given)) {
    const choices = schema.enum.slice(0, 20).map((choice) => JSON.stringify(choice))
    return void complain(`must be one of ${choices.join(', ')}${schema.enum.length > 20 ? ', …' : ''}`)
  }
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema
  if (typeof given === 'number' && given < minimum) complain(`must be at least ${minimum}`)
  if (typeof given === 'number' && given > maximum) complain(`must be at most ${maximum}`)
  const {
    minLength = 0,
    maxLength = Number.POSITIVE_INFINITY,
    minItems = 0,
    maxItems = Number.POSITIVE_INFINITY,
  } = schema
  if (typeof given === 'string' && given.length < minLength) {
    complain(minLength === 1 ? 'must not be empty' : `must have at least ${minLength} characters`)
  }
  if (typeof given === 'string' && given.length > maxLength) complain(`must have at most ${maxLength} characters`)
  if (Array.isArray(given)) {
    if (given.length < minItems) complain(`must have at least ${minItems} entries`)
    if (given.length > maxItems) return void complain(`must have at most ${maxItems} entries`)
    for (const [index, item] of given.entries()) {
      if (!schema.items || faults.length >= faultsMax) break
      collect(schema.items, item, joined(path, String(index)), isOpen, faults)
    }
  } else if (isObject(given)) collectMembers(schema, given, path, isOpen, faults)
}

function collectMembers(
  { properties = {}, required = [], additionalProperties }: ValueSchema,
  value: Readonly<Record<string, unknown>>,
  path: string,
  isOpen: IsOpen,
  faults: ValueFault[],
): void {
  for (const name of required) {
    if (!isSet(value[name])) faults.push({ path: joined(path, name), message: 'is missing' })
  }
  for (const [name, member] of Object.entries(value)) {
    if (faults.length >= faultsMax) return
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (schema && isSet(member)) collect(schema, member, joined(path, name), isOpen, faults)
    else if (!schema && additionalProperties === false) {
      const known = Object.keys(properties).slice(0, 20).join(', ') || 'none'
      faults.push({ path: joined(path, name), message: `is not known here. Known are: ${known}` })
    } else if (!schema && typeof additionalProperties === 'object') {
      collect(additionalProperties, member, joined(path, name), isOpen, faults)
    }
  }
}

const typeWords: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
}

/**
 * The value with texts turned into the numbers, booleans, lists and objects that the schema asks for. Members without a
 * value are left out.
 */
export function fittedTo(schema: ValueSchema, value: unknown): unknown {
  const given = schema.type === undefined ? value : (fitted(schema.type, value) ?? value)
  if (Array.isArray(given)) {
    const { items } = schema
    return items ? given.map((item: unknown) => fittedTo(items, item)) : given
  }
  if (!isObject(given) || !schema.properties) return given
  const { properties } = schema
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, member]) => {
      const inner = Object.hasOwn(properties, name) ? properties[name] : undefined
      if (!inner) return [[name, member]]
      return isSet(member) ? [[name, fittedTo(inner, member)]] : []
    }),
  )
}

function fitted(type: string, value: unknown): unknown {
  switch (type) {
    case 'integer': {
      const number = coerce(value, 'number')
      return typeof number === 'number' && Number.isInteger(number) ? number : undefined
    }
    case 'string':
    case 'number':
    case 'boolean':
    case 'object':
    case 'array':
      return value === null || value === undefined ? undefined : coerce(value, type)
    default:
      return value
  }
}

/** Whether an author has given a value. A reference to nothing reads null, and an empty field is empty text. */
export function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
}

function joined(path: string, step: string): string {
  return path === '' ? step : `${path}.${step}`
}
