import type { Parsed } from './world.ts'

/**
 * Where a value violates a schema of an OpenAPI document. Supports the part of JSON Schema that these documents use.
 * `isWhole`: the schema names all members, so an undeclared member is a violation.
 */
export function findBreaches(value: Parsed, schema: Parsed, root: Parsed, path = '$', isWhole = false): string[] {
  if (schema === true) return []
  if (typeof schema.$ref === 'string') {
    const steps = schema.$ref.slice(2).split('/')
    return findBreaches(
      value,
      steps.reduce((at: Parsed, step: string) => at[step], root),
      root,
      path,
      isWhole,
    )
  }
  if (schema.anyOf) {
    const isOne = schema.anyOf.some((each: Parsed) => findBreaches(value, each, root, path, isWhole).length === 0)
    return isOne ? [] : [`${path} fits none of ${JSON.stringify(schema.anyOf)}`]
  }
  if ('const' in schema && value !== schema.const) return [`${path} is not ${schema.const}`]
  if (schema.enum && !schema.enum.includes(value)) return [`${path} is not one of ${schema.enum}`]
  if (schema.type !== undefined && !fits(value, schema.type))
    return [`${path} is no ${schema.type}: ${JSON.stringify(value)}`]
  if (schema.format === 'date-time' && !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value))
    return [`${path} is no time`]
  if (schema.type === 'array') {
    return value.flatMap((item: Parsed, index: number) =>
      findBreaches(item, schema.items ?? {}, root, `${path}[${index}]`, isWhole),
    )
  }
  if (schema.type !== 'object') return []
  const missing = (schema.required ?? []).filter((name: string) => !Object.hasOwn(value, name))
  const inner = Object.entries(value).flatMap(([name, member]) => {
    const known = schema.properties?.[name] ?? schema.additionalProperties
    if (known) return findBreaches(member, known, root, `${path}.${name}`, isWhole)
    return isWhole && schema.properties ? [`${path}.${name} is not declared`] : []
  })
  return [...missing.map((name: string) => `${path}.${name} is missing`), ...inner]
}

function fits(value: unknown, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
    case 'integer':
      return Number.isInteger(value)
    default:
      return typeof value === type
  }
}
