import { messageOf } from '../domain/errors.ts'
import type { CheckJson } from '../domain/model-call.ts'

/** Checks with a validator that makes no code of the schema; loaded when the first structured answer is checked. */
export const checkJson: CheckJson = async (schema, value) => {
  const { Validator } = await import('@cfworker/json-schema')
  try {
    const { valid, errors } = new Validator(schema, '2020-12', false).validate(value)
    if (valid) return undefined
    // The last one is the innermost: those before only say that something inside them is wrong.
    const inner = errors.at(-1)
    return inner ? `${inner.instanceLocation.replace(/^#\/?/, '') || 'the value'}: ${inner.error}` : 'it does not fit'
  } catch (error) {
    return `the schema cannot be used: ${messageOf(error)}`
  }
}
