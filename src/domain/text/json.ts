import { AppError, messageOf } from '../errors.ts'
import { jsonDepthMax } from '../limits.ts'
import { findJsonFault } from './json-fault.ts'

/**
 * Parses JSON text from outside. Throws `AppError` `INVALID_JSON` with a message that explains what is wrong and where.
 * The nesting depth is checked before parsing, because JSON.parse accepts values that are too deep for the code that
 * processes them later. A `__proto__` member becomes an own member, as in JSON.
 *
 * `what` names the text in messages ("The body", "The file order.json").
 */
export function readJson(text: string, what = 'The body', depthMax = jsonDepthMax): unknown {
  if (text === '') throw new AppError('INVALID_JSON', `${what} is empty. It must be JSON.`)
  if (isDeeperThan(text, depthMax)) {
    throw new AppError('INVALID_JSON', `${what} is nested deeper than ${depthMax} levels, which is the limit.`)
  }
  try {
    return JSON.parse(text)
  } catch (cause) {
    // The engine's own message contains no position, so the text is parsed again to produce a better one.
    const fault = findJsonFault(text) ?? messageOf(cause)
    throw new AppError('INVALID_JSON', `${what} is not valid JSON: ${fault}`, { cause })
  }
}

const quote = 34
const backslash = 92

/** Whether objects and arrays in the text are nested deeper than `levels`. Ignores brackets inside strings. */
export function isDeeperThan(text: string, levels: number): boolean {
  // Every level needs an opening and a closing bracket, so a short text needs no scan.
  if (text.length < 2 * (levels + 1)) return false
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x7b: // {
      case 0x5b: // [
        if (++depth > levels) return true
        break
      case 0x7d: // }
      case 0x5d: // ]
        depth--
        break
      case quote:
        at = endOfString(text, at)
        break
    }
  }
  return false
}

/** The position of the quote that closes the string opened at `start`; the text's length when there is none. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let before = at - 1
    while (text.charCodeAt(before) === backslash) before--
    if ((at - before) % 2 === 1) return at
  }
  return text.length
}
