import type { BlockDefinition } from './block.ts'
import { fit } from './parameters.ts'

/** Parameters as they are written, for a block whose parameters hold no references; only of a block without findings. */
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
