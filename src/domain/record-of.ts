import { type TRecord, type TSchema, type TString, Type as t } from '@sinclair/typebox'

/**
 * An object with any keys, whose values match the schema. `t.Record(t.String(), …)` would not check the values of keys
 * with a line break: its pattern for keys is `^(.*)$`.
 */
export function recordOf<Values extends TSchema>(
  values: Values,
  options?: Readonly<Record<string, unknown>>,
): TRecord<TString, Values> {
  return t.Record(anyKey, values, options)
}

const anyKey = t.String({ pattern: '^[\\s\\S]*$' })
