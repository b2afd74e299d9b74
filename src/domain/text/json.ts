import { AppError, messageOf } from '../errors.ts'
import { jsonDepthMax, jsonValuesMax, type Limit } from '../limits.ts'
import { findJsonFault } from './json-fault.ts'

export type ReadJsonOptions = {
  /** Names the text in messages ("The body", "The file order.json"). */
  what?: string
  depthMax?: number
  /** The maximum number of values. Without it, the text may have any number. */
  values?: Limit
  /** Called with the number of values in a text of more than 64 KB before it is parsed. May throw. */
  count?(values: number): void
}

/**
 * Parses JSON text from outside. Throws `AppError` `INVALID_JSON` with a message that explains what is wrong and where,
 * or `PAYLOAD_TOO_LARGE` for too many values. Depth and values are counted before parsing: JSON.parse accepts values
 * that are too deep for the code that processes them later, and each value costs about a hundred bytes and some
 * microseconds, however short its text is. A `__proto__` member becomes an own member, as in JSON.
 */
export function readJson(text: string, options: ReadJsonOptions = {}): unknown {
  const { what = 'The body', depthMax = jsonDepthMax, values, count } = options
  if (text === '') throw new AppError('INVALID_JSON', `${what} is empty. It must be JSON.`)
  const { excess, values: found } = scanJson(text, depthMax, values?.max)
  if (excess === 'depth') {
    throw new AppError('INVALID_JSON', `${what} is nested deeper than ${depthMax} levels, which is the limit.`)
  }
  if (excess === 'values' && values) {
    const message = `${what} has more than ${values.max} values, the most that ${values.setting} allows.`
    throw new AppError('PAYLOAD_TOO_LARGE', message)
  }
  if (text.length > uncountedChars) count?.(found)
  try {
    return JSON.parse(text)
  } catch (cause) {
    // The engine's own message contains no position, so the text is parsed again to produce a better one.
    const fault = findJsonFault(text) ?? messageOf(cause)
    throw new AppError('INVALID_JSON', `${what} is not valid JSON: ${fault}`, { cause })
  }
}

/** Why a run must not parse a JSON text ("it is nested deeper than 200 levels"); undefined when it may. */
export function jsonRefusal(text: string, depthMax = jsonDepthMax): string | undefined {
  const excess = findJsonExcess(text, depthMax, jsonValuesMax)
  if (excess === undefined) return undefined
  return excess === 'depth' ? `it is nested deeper than ${depthMax} levels` : `it has more than ${jsonValuesMax} values`
}

/** The values of a shorter text take little memory. */
const uncountedChars = 65_536
const quote = 34
const backslash = 92

/**
 * Which limit a JSON text exceeds first, if any: the nesting of its objects and arrays, or the number of its values.
 * Objects and arrays count as values. Ignores everything inside strings. Linear, and skipped for short texts.
 */
export function findJsonExcess(
  text: string,
  depthMax: number,
  valuesMax = Number.POSITIVE_INFINITY,
): JsonExcess | undefined {
  return scanJson(text, depthMax, valuesMax).excess
}

type JsonExcess = 'depth' | 'values'

const short = { excess: undefined, values: 0 } as const

/** `values`: how many there are, at most; 0 for a short text. */
function scanJson(
  text: string,
  depthMax: number,
  valuesMax = Number.POSITIVE_INFINITY,
): { excess: JsonExcess | undefined; values: number } {
  // A level takes an opening and a closing bracket, and a value a character and a comma. A short text needs no scan.
  if (text.length < 2 * (depthMax + 1) && text.length < 2 * valuesMax && text.length <= uncountedChars) return short
  let depth = 0
  // Each value follows a comma or opens a container, except the first one of a container that is not empty. So this is
  // never too low, and at most the number of empty containers too high.
  let values = 1
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x7b: // {
      case 0x5b: // [
        if (++depth > depthMax) return { excess: 'depth', values }
        if (++values > valuesMax) return { excess: 'values', values }
        break
      case 0x7d: // }
      case 0x5d: // ]
        depth--
        break
      case 0x2c: // ,
        if (++values > valuesMax) return { excess: 'values', values }
        break
      case quote:
        at = endOfString(text, at)
        break
    }
  }
  return { excess: undefined, values }
}

/** The position of the quote that closes the string opened at `start`; the text's length when there is none. */
function endOfString(text: string, start: number): number {
  // A search for the next quote is fast for long texts, and slow for many quotes: then each character is looked at.
  const next = text.indexOf('"', start + 1)
  if (next === -1 || text.charCodeAt(next - 1) !== backslash) return next === -1 ? text.length : next
  let at = next - 1
  while (text.charCodeAt(at - 1) === backslash) at--
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === backslash) at++
    else if (code === quote) return at
  }
  return text.length
}
