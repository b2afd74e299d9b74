import { isObject } from '../run/input.ts'

/** A difference between a value and its expectation. `path`: such as `output.items[0].id`. */
export type Difference = { path: string; message: string; expected?: unknown; actual?: unknown }

/** A text that must match a pattern. Patterns run in the sandbox, because a user wrote them. */
export type PatternCheck = { path: string; pattern: string; text: string }

export const anyTypes = ['string', 'number', 'boolean', 'object', 'array', 'null', 'value'] as const

/**
 * Compares a value with an expectation. Objects match partially: members that are not expected do not matter. Lists
 * match item by item. `{ "$any": "string" }` matches every text and `{ "$match": "pattern" }` those with a match, which
 * are added to `patterns`.
 */
export function compare(
  expected: unknown,
  actual: unknown,
  path: string,
  found: Difference[],
  patterns: PatternCheck[],
) {
  if (found.length >= differencesMax) return
  const differs = (message: string) => found.push({ path, message, expected, actual })
  if (isMatcher(expected)) {
    if ('$any' in expected) {
      const wanted = String(expected['$any'])
      if (wanted !== 'value' && typeOf(actual) !== wanted) differs(`${path} must be any ${wanted}.`)
    } else if (patterns.length >= patternsMax) differs(`An expectation may have at most ${patternsMax} patterns.`)
    else if (typeof actual === 'string') patterns.push({ path, pattern: String(expected['$match']), text: actual })
    else differs(`${path} must be a text that matches ${String(expected['$match'])}.`)
    return
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return differs(`${path} must be a list.`)
    if (expected.length !== actual.length) {
      return differs(`${path} must have ${expected.length} items, not ${actual.length}.`)
    }
    for (const [index, item] of expected.entries()) compare(item, actual[index], `${path}[${index}]`, found, patterns)
    return
  }
  if (isObject(expected)) {
    if (!isObject(actual)) return differs(`${path} must be an object.`)
    for (const [name, value] of Object.entries(expected)) {
      const here = Object.hasOwn(actual, name) ? actual[name] : undefined
      compare(value, here, memberPath(path, name), found, patterns)
    }
    return
  }
  if (!Object.is(expected, actual)) differs(`${path} is not as expected.`)
  return
}

/** The maximum number of patterns of one test. */
const patternsMax = 1_000

/** The maximum number of reported differences. */
export const differencesMax = 50

/**
 * The expectation after `actual` was accepted: matchers that fit stay, and so do members that were left out.
 * `mismatched`: the paths of patterns without a match.
 */
export function accepted(
  expected: unknown,
  actual: unknown,
  path: string,
  mismatched: ReadonlySet<string> = new Set(),
): unknown {
  if (isMatcher(expected)) {
    if (mismatched.has(path)) return actual
    const found: Difference[] = []
    compare(expected, actual, '', found, [])
    return found.length === 0 ? expected : actual
  }
  if (Array.isArray(expected) && Array.isArray(actual) && expected.length === actual.length) {
    return expected.map((item, index) => accepted(item, actual[index], `${path}[${index}]`, mismatched))
  }
  if (isObject(expected) && isObject(actual)) {
    const kept = Object.entries(expected).filter(([name]) => Object.hasOwn(actual, name))
    return Object.fromEntries(
      kept.map(([name, value]) => [name, accepted(value, actual[name], memberPath(path, name), mismatched)]),
    )
  }
  return actual
}

/** The values that two runs with the same input share; `$any` where they differ but have the same type. */
export function common(first: unknown, second: unknown): unknown {
  if (Array.isArray(first) && Array.isArray(second) && first.length === second.length) {
    return first.map((item, index) => common(item, second[index]))
  }
  if (isObject(first) && isObject(second)) {
    return Object.fromEntries(
      Object.entries(first).map(([name, value]) => {
        return [name, Object.hasOwn(second, name) ? common(value, second[name]) : { $any: typeOf(value) }]
      }),
    )
  }
  if (Object.is(first, second)) return first
  return typeOf(first) === typeOf(second) && !isObject(first) ? { $any: typeOf(first) } : first
}

/** The path of a member, for messages: a long name is shortened. */
function memberPath(path: string, name: string): string {
  return `${path}.${name.length > 200 ? `${name.slice(0, 200)}…` : name}`
}

function isMatcher(value: unknown): value is Record<string, unknown> {
  if (!isObject(value)) return false
  const names = Object.keys(value)
  if (names.length !== 1) return false
  if (names[0] === '$match') return typeof value['$match'] === 'string'
  return names[0] === '$any' && anyTypes.some((type) => type === value['$any'])
}

function typeOf(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
