import { type SchemaOptions, type TUnsafe, Type as t } from '@sinclair/typebox'

/**
 * A schema for one of these strings, as a union of literals. (`t.Unsafe` alone would give the same static type, but
 * values cannot be checked against it.) `labels`: the editor shows them instead of the strings.
 */
export function oneOf<const Names extends readonly string[]>(
  names: Names,
  { labels, ...options }: SchemaOptions & { labels?: Readonly<Record<Names[number], string>> } = {},
): TUnsafe<Names[number]> {
  const literals = names.map((name) => t.Literal(name))
  return t.Union(literals, { ...options, ...(labels && { 'x-labels': labels }) }) as unknown as TUnsafe<Names[number]>
}
