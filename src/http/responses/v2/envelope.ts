import { type TSchema, Type as t } from '@sinclair/typebox'
import { maybe } from '../schema-parts.ts'

/** Parts of the responses of `/api/v2`. */

/** The response for one object. */
export const dataOf = <Schema extends TSchema>(schema: Schema) => t.Object({ data: schema })

/** The response for a page of a list. */
export const pageOf = <Schema extends TSchema>(schema: Schema) =>
  t.Object({
    data: t.Array(schema),
    nextCursor: maybe(t.String({ description: 'The `cursor` of the next page; null on the last one.' })),
  })

/** `Cache-Control` of every response: it belongs to the caller of the key alone. */
export const privateNoStore = 'private, no-store'
