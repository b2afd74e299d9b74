/** A member of an object schema, as a form row. */
export type SchemaRow = {
  name: string
  type: RowType
  description?: string
  required: boolean
  /** For `enum`: the allowed values. */
  choices?: readonly string[]
}

export type RowType = keyof typeof shapes | 'enum'

type Schema = Readonly<Record<string, unknown>>

const shapes = {
  string: { type: 'string' },
  number: { type: 'number' },
  integer: { type: 'integer' },
  boolean: { type: 'boolean' },
  object: { type: 'object' },
  'string[]': { type: 'array', items: { type: 'string' } },
  'number[]': { type: 'array', items: { type: 'number' } },
  'object[]': { type: 'array', items: { type: 'object' } },
} as const

/** Converts an object schema into rows. Returns undefined when rows cannot express it. */
export function rowsOf(schema: unknown): SchemaRow[] | undefined {
  if (schema === undefined || schema === null) return []
  if (!isSchema(schema)) return undefined
  const { type, properties = {}, required = [], additionalProperties, ...rest } = schema
  if (Object.keys(schema).length === 0) return []
  const isPlain = type === 'object' && isSchema(properties) && Array.isArray(required) && Object.keys(rest).length === 0
  if (!isPlain || (additionalProperties !== undefined && additionalProperties !== false)) return undefined
  const names = Object.keys(properties)
  if (required.some((name) => !Object.hasOwn(properties, String(name)))) return undefined
  const isRequired = new Set<unknown>(required)
  const rows = names.map((name) => rowOf(name, properties[name], isRequired.has(name)))
  return rows.every((row) => row !== undefined) ? rows : undefined
}

function rowOf(name: string, property: unknown, required: boolean): SchemaRow | undefined {
  if (!isSchema(property)) return undefined
  const { description, ...shape } = property
  if (description !== undefined && typeof description !== 'string') return undefined
  const own = { name, required, ...(description === undefined ? {} : { description }) }
  const { type, enum: choices, ...more } = shape
  if (type === 'string' && Array.isArray(choices) && Object.keys(more).length === 0) {
    return choices.every((choice) => typeof choice === 'string') ? { ...own, type: 'enum', choices } : undefined
  }
  const found = Object.entries(shapes).find(([, known]) => JSON.stringify(known) === JSON.stringify(shape))
  return found && { ...own, type: found[0] as RowType }
}

/**
 * Converts rows into a JSON schema. The last of several rows with the same name wins; rows without a name are skipped.
 */
export function schemaOf(rows: readonly SchemaRow[]): Schema | undefined {
  const named = rows.filter(({ name }) => name !== '')
  if (named.length === 0) return undefined
  const properties = named.map(({ name, type, description, choices = [] }) => {
    const shape = type === 'enum' ? { type: 'string', enum: choices } : shapes[type]
    return [name, { ...shape, ...(description ? { description } : {}) }]
  })
  const required = new Set(named.flatMap((row) => (row.required ? [row.name] : [])))
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: [...required],
    // Required by providers for strict structured output.
    additionalProperties: false,
  }
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
