import type { BlockDefinition } from '../block.ts'
import { fit } from './parameter-reader.ts'

/** The parameters of a block that has no references and no errors, with defaults. */
export function writtenParameters(
  { parameters }: BlockDefinition,
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(parameters.properties).flatMap(([name, schema]) => {
      const value = given[name] ?? (schema.default as unknown)
      return value === undefined || value === null ? [] : [[name, fit(value, schema)]]
    }),
  )
}
