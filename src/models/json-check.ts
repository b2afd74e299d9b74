import { messageOf } from '../domain/errors.ts'
import type { CheckJson } from '../domain/run/model-call.ts'

/** Checks with a validator that compiles no code. It is loaded when the first structured response is checked. */
export const checkJson: CheckJson = async (schema, value) => {
  const { Validator } = await import('@cfworker/json-schema')
  try {
    // It stops at the first fault: an invalid property would be reported as an additional property as well.
    const { valid, errors } = new Validator(schema, '2020-12', true).validate(value)
    if (valid) return undefined
    // The last error is the innermost one. The others only say that something inside them is wrong.
    const inner = errors.at(-1)
    if (!inner) return 'it does not fit'
    const place = inner.instanceLocation.replace(/^#\/?/, '') || 'the value'
    return `${place}: ${inner.keyword === 'false' ? 'the schema does not allow it' : inner.error.replace(/\.$/, '')}`
  } catch (error) {
    return `the schema cannot be used: ${messageOf(error)}`
  }
}
