import { type TSchema, Type as t } from '@sinclair/typebox'
import { documented } from '../openapi/operation.ts'

/** Parts of the response schemas. The OpenAPI document, the typed client and the tests use these schemas. */

export const Time = t.String({ format: 'date-time', description: 'ISO 8601, UTC, with milliseconds.' })
export const maybe = <Schema extends TSchema>(schema: Schema) => t.Union([schema, t.Null()])
export const listOf = <Schema extends TSchema>(schema: Schema) => t.Object({ data: t.Array(schema) })

/**
 * The responses of a route, by status. The service does not check them: a response that does not match its schema would
 * turn a readable document into a 500. The tests check them instead.
 */
export function responses<const Schemas extends Record<number, TSchema>>(schemas: Schemas): Schemas {
  return Object.fromEntries(Object.entries(schemas).map(([status, schema]) => [status, documented(schema)])) as Schemas
}

export function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString()
}
