import { type SchemaOptions, type TUnsafe, Type as t } from '@sinclair/typebox'

/**
 * One of these texts. A union of literals: `t.Unsafe`, whose type is borrowed for the list's, makes schemas that no value
 * can be checked against, so that whoever reads a body with one answers 500.
 */
export function oneOf<const Names extends readonly string[]>(
  names: Names,
  options: SchemaOptions = {},
): TUnsafe<Names[number]> {
  const literals = names.map((name) => t.Literal(name))
  return t.Union(literals, options) as unknown as TUnsafe<Names[number]>
}
