/** The types and formats of form fields. This file has no schemas, so that the pages of forms stay small. */

export const fieldTypes = ['string', 'number', 'boolean', 'files', 'array', 'object'] as const
export type FieldType = (typeof fieldTypes)[number]

export const fieldTypeLabels: Readonly<Record<FieldType, string>> = {
  string: 'Text',
  number: 'Number',
  boolean: 'Yes or no',
  files: 'Files',
  array: 'List',
  object: 'Object',
}

/** The formats of a text. `line` is the default. */
export const fieldFormats = ['line', 'long', 'email', 'url', 'date'] as const
export type FieldFormat = (typeof fieldFormats)[number]

export const fieldFormatLabels: Readonly<Record<FieldFormat, string>> = {
  line: 'One line',
  long: 'Several lines',
  email: 'E-mail address',
  url: 'Web address',
  date: 'Date',
}

/** The types whose fields can have choices. */
export function mayChoose({ type }: { type: string }): boolean {
  return type === 'string' || type === 'number' || type === 'array'
}
