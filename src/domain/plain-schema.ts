import type { TArray, TBoolean, TInteger, TNumber, TOptional, TSchema, TString, TUnsafe } from '@sinclair/typebox'

/**
 * TypeBox schemas as plain objects, without the symbols that the library adds. They describe what is read before the
 * service listens, so that loading the library does not delay the start. `Value` and Elysia do not accept them.
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

/** Optionality exists only in the type; nothing checks it at run time. */
export function plainOptional<Schema extends TSchema>(schema: Schema): TOptional<Schema> {
  return schema as unknown as TOptional<Schema>
}
