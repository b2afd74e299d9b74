import type { Operation } from '../../domain/connector/connector.ts'
import { isObject } from '../../domain/run/input.ts'
import type { Properties } from './imported.ts'
import { importedSchema, type OpenApiContext } from './schema.ts'

type Target = { properties: Properties; required: string[] }
type Body = Pick<Operation, 'body' | 'bodyTemplate' | 'headers'>

/** Adds the parameters of a request's body, and says how they are sent. */
export function importedBody(
  { requestBody, consumes }: Record<string, unknown>,
  parameters: readonly Record<string, unknown>[],
  at: string,
  target: Target,
  context: OpenApiContext,
): Body | undefined {
  if (parameters.length > 0) return swaggerBody(parameters, consumes, at, target, context)
  const found =
    isObject(requestBody) && typeof requestBody['$ref'] === 'string'
      ? context.resolve(requestBody['$ref'])
      : requestBody
  const content = isObject(found) && isObject(found['content']) ? found['content'] : {}
  const types = Object.keys(content)
  const type =
    types.find((each) => /[/+]json\b/i.test(each)) ?? types.find((each) => kindOf(each) !== 'raw') ?? types[0]
  if (type === undefined) return undefined
  for (const other of types) {
    if (other !== type) context.leftovers.add(`${at}.requestBody.${other}`, `The body is sent as ${type}.`)
  }
  const media = content[type]
  const isRequired = isObject(found) && found['required'] === true
  return addBody(kindOf(type), isObject(media) ? media['schema'] : {}, { type, isRequired, at }, target, context)
}

/** Swagger 2 has one parameter for a whole body, or one for each field of a form. */
function swaggerBody(
  parameters: readonly Record<string, unknown>[],
  consumes: unknown,
  at: string,
  target: Target,
  context: OpenApiContext,
): Body | undefined {
  const whole = parameters.find((each) => each['in'] === 'body')
  if (whole) {
    const isRequired = whole['required'] === true
    return addBody('json', whole['schema'], { type: 'application/json', isRequired, at }, target, context)
  }
  for (const parameter of parameters) {
    const { name, in: _in, required, description, ...schema } = parameter
    const key = freeName(String(name), target.properties)
    const note = typeof description === 'string' ? { description: description.slice(0, 1_000) } : {}
    target.properties[key] = {
      ...importedSchema(schema, at, context),
      ...note,
      ...named(key, String(name)),
      in: 'body',
    }
    if (required === true) target.required.push(key)
  }
  const listed = Array.isArray(consumes) ? consumes : context.document['consumes']
  const hasFile = parameters.some((each) => each['type'] === 'file')
  const isMultipart = hasFile || (Array.isArray(listed) && listed.includes('multipart/form-data'))
  return { body: isMultipart ? 'multipart' : 'form' }
}

function kindOf(type: string): NonNullable<Operation['body']> {
  if (/[/+]json\b/i.test(type) || type === '*/*') return 'json'
  if (/x-www-form-urlencoded/i.test(type)) return 'form'
  return /^multipart\//i.test(type) ? 'multipart' : 'raw'
}

function addBody(
  body: NonNullable<Operation['body']>,
  written: unknown,
  { type, isRequired, at }: { type: string; isRequired: boolean; at: string },
  { properties, required }: Target,
  context: OpenApiContext,
): Body {
  const schema = importedSchema(written, `${at}.requestBody`, context)
  const members = schema.type === 'object' ? Object.entries(schema.properties ?? {}) : []
  const names = members.map(([name]) => name)
  if (body !== 'raw' && names.length > 0 && names.length + Object.keys(properties).length <= 200) {
    for (const [name, member] of members) {
      const key = freeName(name, properties)
      properties[key] = { ...member, ...named(key, name), in: 'body' }
      if (isRequired && schema.required?.includes(name)) required.push(key)
    }
    return { body }
  }
  // A body that is not an object of known members is one parameter.
  const key = freeName('body', properties)
  if (body === 'form' || body === 'multipart') {
    context.leftovers.add(`${at}.requestBody`, 'The fields of the form are not described, so none can be sent.')
    return { body }
  }
  properties[key] = { ...schema, title: schema.title ?? 'Body', in: 'body' }
  if (isRequired) required.push(key)
  return body === 'raw' ? { body, headers: { 'Content-Type': type } } : { bodyTemplate: { $param: key } }
}

function freeName(name: string, taken: Properties): string {
  return Object.hasOwn(taken, name) ? `${name}_body` : name
}

function named(key: string, name: string): { name?: string } {
  return key === name ? {} : { name }
}
