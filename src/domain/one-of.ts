import { type SchemaOptions, type TUnsafe, Type as t } from '@sinclair/typebox'

/**
 * A schema for one of these strings, as a union of literals. (`t.Unsafe` alone would give the same static type, but
 * values cannot be checked against it.)
 */
export function oneOf<const Names extends readonly string[]>(
  names: Names,
  options: SchemaOptions = {},
): TUnsafe<Names[number]> {
  const literals = names.map((name) => t.Literal(name))
  return t.Union(literals, options) as unknown as TUnsafe<Names[number]>
}
