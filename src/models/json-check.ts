import { messageOf } from '../domain/errors.ts'
import type { CheckJson } from '../domain/run/model-call.ts'

/** Checks with a validator that makes no code of the schema; loaded when the first structured answer is checked. */
export const checkJson: CheckJson = async (schema, value) => {
  const { Validator } = await import('@cfworker/json-schema')
  try {
    // Up to the first fault: a property that does not fit would be counted among the additional ones as well.
    const { valid, errors } = new Validator(schema, '2020-12', true).validate(value)
    if (valid) return undefined
    // The last one is the innermost: those before only say that something inside them is wrong.
    const inner = errors.at(-1)
    if (!inner) return 'it does not fit'
    const place = inner.instanceLocation.replace(/^#\/?/, '') || 'the value'
    return `${place}: ${inner.keyword === 'false' ? 'the schema does not allow it' : inner.error.replace(/\.$/, '')}`
  } catch (error) {
    return `the schema cannot be used: ${messageOf(error)}`
  }
}
