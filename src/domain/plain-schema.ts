import type { TArray, TBoolean, TInteger, TNumber, TOptional, TSchema, TString, TUnsafe } from '@sinclair/typebox'

/**
 * TypeBox schemas as the plain objects that they are, without the marks by which the library knows its own. For what is
 * read before the service listens, so that the library is loaded behind that. `Value` and Elysia do not take these.
 */

type Options = Readonly<Record<string, unknown>>

export function plainInteger(options: Options): TInteger {
  return { type: 'integer', ...options } as unknown as TInteger
}

export function plainNumber(options: Options): TNumber {
  return { type: 'number', ...options } as unknown as TNumber
}

export function plainString(options: Options): TString {
  return { type: 'string', ...options } as unknown as TString
}

export function plainBoolean(options: Options): TBoolean {
  return { type: 'boolean', ...options } as unknown as TBoolean
}

export function plainArray<Item extends TSchema>(items: Item, options: Options): TArray<Item> {
  return { type: 'array', items, ...options } as unknown as TArray<Item>
}

export function plainEnum<const Names extends readonly string[]>(
  names: Names,
  options: Options,
): TUnsafe<Names[number]> {
  return { enum: names, ...options } as unknown as TUnsafe<Names[number]>
}

/** Whether a member may be absent is a matter of its type alone: nothing looks at it at run time. */
export function plainOptional<Schema extends TSchema>(schema: Schema): TOptional<Schema> {
  return schema as unknown as TOptional<Schema>
}
