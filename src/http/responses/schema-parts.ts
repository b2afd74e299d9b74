import { type TSchema, Type as t } from '@sinclair/typebox'

/** Parts of the response schemas. The OpenAPI document, the typed client and the tests use these schemas. */

export const Time = t.String({ format: 'date-time', description: 'ISO 8601, UTC, with milliseconds.' })
export const maybe = <Schema extends TSchema>(schema: Schema) => t.Union([schema, t.Null()])
export const listOf = <Schema extends TSchema>(schema: Schema) => t.Object({ data: t.Array(schema) })

export function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString()
}
