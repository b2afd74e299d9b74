import { AppError, messageOf } from './errors.ts'
import { findJsonFault } from './json-fault.ts'
import { jsonDepthMax } from './limits.ts'

/**
 * Reads JSON text that comes from outside. Throws `AppError` `INVALID_JSON` that says in plain words what is wrong and
 * where. Nesting is bounded before anything is parsed, because values that JSON.parse takes without complaint are too
 * deep for everything that walks them later. A `__proto__` member stays what it is in JSON: an own member.
 *
 * `what` names the text in messages ("The body", "The file order.json").
 */
export function readJson(text: string, what = 'The body', depthMax = jsonDepthMax): unknown {
  if (text === '') throw new AppError('INVALID_JSON', `${what} is empty, and must be JSON.`)
  if (isDeeperThan(text, depthMax)) {
    throw new AppError('INVALID_JSON', `${what} is nested deeper than ${depthMax} levels, the most that is taken.`)
  }
  try {
    return JSON.parse(text)
  } catch (cause) {
    // The engine's own message names no position, so the text is read once more, for the error only.
    const fault = findJsonFault(text) ?? messageOf(cause)
    throw new AppError('INVALID_JSON', `${what} is not valid JSON: ${fault}`, { cause })
  }
}

const quote = 34
const backslash = 92

/** Whether objects and arrays in the text are nested deeper than `levels`. Looks at brackets outside strings only. */
export function isDeeperThan(text: string, levels: number): boolean {
  // Every level takes an opening and a closing bracket: most bodies are too short to be looked at.
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

/** The position of the quote that closes the string opened at `start`; the text's length when none does. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let before = at - 1
    while (text.charCodeAt(before) === backslash) before--
    if ((at - before) % 2 === 1) return at
  }
  return text.length
}
