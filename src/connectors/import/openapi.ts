import type { Connector, CredentialOffer, Operation, ValueSchema } from '../../domain/connector/connector.ts'
import { isObject } from '../../domain/run/input.ts'
import {
  connectorIdOf,
  firstLine,
  given,
  ImportError,
  type Imported,
  type ImportOptions,
  Leftovers,
  operationIdOf,
  type Properties,
  shortText,
  TakenOperations,
} from './imported.ts'
import { importedBody } from './openapi-body.ts'
import { importedOutput } from './openapi-output.ts'
import { credentialOffers } from './openapi-security.ts'
import { importedSchema, type OpenApiContext, schemaPartsMax } from './schema.ts'

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const
const otherMethods = ['head', 'options', 'trace']

/** An OpenAPI document of version 2.0 (Swagger), 3.0 or 3.1 as a connector. Throws `ImportError`. */
export function importOpenApi(
  document: Record<string, unknown>,
  { id, operations }: ImportOptions,
  source = '',
): Imported {
  const { info, paths } = document
  if (!isObject(paths)) throw new ImportError('The OpenAPI document has no paths.')
  const title = firstLine(isObject(info) ? info['title'] : undefined, 200) ?? 'Imported API'
  const leftovers = new Leftovers()
  const context: OpenApiContext = {
    ...{ document, leftovers, partsLeft: schemaPartsMax, isSwagger: typeof document['swagger'] === 'string' },
    resolve: (reference) => pointed(document, reference),
  }
  const wanted = operations && new Set(operations)
  const taken = new TakenOperations(leftovers)
  const responses: [name: string, responses: unknown][] = []
  for (const [path, item] of Object.entries(paths)) {
    const found = isObject(item) && typeof item['$ref'] === 'string' ? context.resolve(item['$ref']) : item
    if (!isObject(found)) continue
    for (const method of otherMethods)
      if (found[method]) leftovers.add(`paths.${path}.${method}`, 'Operations do not use this method.')
    for (const method of methods) {
      const written = found[method]
      if (!isObject(written)) continue
      const name = operationIdOf(
        textOf(written['operationId']) ?? `${method}_${path.replaceAll(/^\/|[{}]/g, '')}`,
        taken.all,
      )
      if (wanted && !wanted.has(name)) continue
      const at = `paths.${path}.${method}`
      responses.push([name, written['responses']])
      taken.add(name, at, () => operationOf({ path, method, written, shared: found['parameters'], at }, context))
    }
  }
  for (const [name, written] of responses) {
    const output = Object.hasOwn(taken.all, name) ? importedOutput(written, context) : undefined
    if (output) taken.describe(name, output)
  }
  const description = shortText(isObject(info) ? info['description'] : undefined, 500)
  const baseUrl = baseUrlOf(document, source, leftovers)
  const connector: Connector = given({
    ...{ id: id ?? connectorIdOf(title), name: title, description, baseUrl },
    documentation: documentationOf(document),
    credentials: credentialOffers(document, baseUrl, leftovers) as CredentialOffer[],
    operations: taken.all,
  })
  if (taken.isEmpty) {
    throw new ImportError(wanted ? 'The document has none of these operations.' : 'The document has no operations.')
  }
  return { connector, notTaken: leftovers.list }
}

type Written = {
  path: string
  method: (typeof methods)[number]
  written: Record<string, unknown>
  shared: unknown
  at: string
}

function operationOf({ path, method, written, shared, at }: Written, context: OpenApiContext): Operation | undefined {
  const { leftovers } = context
  const address = path.split(/[?#]/)[0]!.trim()
  const template = (address.startsWith('/') ? address : `/${address}`).replaceAll(/\s/g, '%20')
  if (template.length > 2_000) {
    leftovers.add(at, 'The path is too long.')
    return undefined
  }
  if (address !== path) leftovers.add(at, 'The query in the path is not sent.')
  const properties: Properties = {}
  const required: string[] = []
  const bodyParameters: Record<string, unknown>[] = []
  for (const [index, parameter] of [...listOf(shared), ...listOf(written['parameters'])].entries()) {
    const resolved =
      isObject(parameter) && typeof parameter['$ref'] === 'string' ? context.resolve(parameter['$ref']) : parameter
    if (!isObject(resolved) || typeof resolved['name'] !== 'string') continue
    const { name, in: place } = resolved
    if (place === 'body' || place === 'formData') bodyParameters.push(resolved)
    else if (place === 'cookie') leftovers.add(`${at}.parameters.${index}`, `The cookie ${name} is not sent.`)
    else addParameter(name, resolved, { at: `${at}.parameters.${index}`, template }, { properties, required }, context)
  }
  // A name in the path that the document forgot to describe.
  for (const [, name = ''] of template.matchAll(/\{([^{}]+)\}/g)) {
    properties[name] ??= { type: 'string' }
    if (!required.includes(name)) required.push(name)
  }
  const hasBody = method !== 'get' && method !== 'delete'
  const target = { properties, required }
  const body = hasBody ? importedBody(written, bodyParameters, at, target, context) : undefined
  if (!hasBody && (written['requestBody'] || bodyParameters.length > 0)) {
    leftovers.add(`${at}.requestBody`, `A ${method.toUpperCase()} request is sent without its body.`)
  }
  const label =
    firstLine(written['summary'], 200) ?? words(textOf(written['operationId'])) ?? `${method.toUpperCase()} ${path}`
  const schema =
    Object.keys(properties).length > 0
      ? { type: 'object', properties, ...(required.length > 0 ? { required } : {}) }
      : undefined
  const description = shortText(written['description'], 1_000)
  return given({
    ...{ label: label.slice(0, 200), method: method.toUpperCase() as Operation['method'], path: template },
    ...{ description: description === label ? undefined : description, parameters: schema, ...body },
  }) as Operation
}

type Target = { properties: Properties; required: string[] }

function addParameter(
  name: string,
  parameter: Record<string, unknown>,
  { at, template }: { at: string; template: string },
  { properties, required }: Target,
  context: OpenApiContext,
): void {
  const place = parameter['in']
  if (place !== 'path' && place !== 'query' && place !== 'header') return
  if (place === 'header' && /^(accept|content-type|authorization)$/i.test(name)) return
  if (place === 'path' && !template.includes(`{${name}}`)) {
    context.leftovers.add(at, `The path has no {${name}}.`)
    return
  }
  const content = isObject(parameter['content']) ? Object.values(parameter['content'])[0] : undefined
  if (content !== undefined) context.leftovers.add(at, `${name} is sent as a text: its own media type is not used.`)
  // In Swagger 2, the parameter itself is the schema.
  const written = parameter['schema'] ?? (isObject(content) ? content['schema'] : undefined) ?? withoutPlace(parameter)
  const schema = importedSchema(written, at, context)
  const description = shortText(parameter['description'], 1_000)
  const other = Object.hasOwn(properties, name) && properties[name]?.in !== place ? properties[name] : undefined
  if (other && place === 'path') {
    // The path says the name, so the other parameter gets a new one.
    properties[`${name}_${other.in}`] = { name, ...other }
    const index = required.indexOf(name)
    if (index >= 0) required[index] = `${name}_${other.in}`
  }
  const key = other && place !== 'path' ? `${name}_${place}` : name
  const isJoined = schema.type === 'array' && place === 'query' && isCommaSeparated(parameter, context.isSwagger)
  const own: ValueSchema = {
    ...schema,
    ...(description === undefined ? {} : { description }),
    ...{ in: place },
    ...(key === name ? {} : { name }),
    ...(isJoined || (schema.type === 'array' && place !== 'query') ? { join: ',' } : {}),
  }
  properties[key] = own
  if ((parameter['required'] === true || place === 'path') && !required.includes(key)) required.push(key)
}

/** Swagger 2 joins lists with commas by default; OpenAPI 3 repeats the parameter. */
function isCommaSeparated({ collectionFormat, explode }: Record<string, unknown>, isSwagger: boolean): boolean {
  return isSwagger ? collectionFormat !== 'multi' : explode === false
}

function withoutPlace({
  name: _name,
  in: _in,
  required: _required,
  description: _description,
  ...schema
}: Record<string, unknown>) {
  return schema
}

function baseUrlOf(document: Record<string, unknown>, source: string, leftovers: Leftovers): string {
  const servers = listOf(document['servers'])
  const first = servers.find(isObject)
  let url = ''
  if (first && typeof first['url'] === 'string') {
    const variables = isObject(first['variables']) ? first['variables'] : {}
    url = first['url'].replaceAll(/\{([^{}]+)\}/g, (whole, name: string) => {
      const variable = variables[name]
      return isObject(variable) && typeof variable['default'] === 'string' ? variable['default'] : whole
    })
  } else if (typeof document['host'] === 'string') {
    const schemes = listOf(document['schemes'])
    const scheme = schemes.includes('https') || schemes.length === 0 ? 'https' : 'http'
    url = `${scheme}://${document['host']}${textOf(document['basePath']) ?? ''}`
  } else url = textOf(document['basePath']) ?? ''
  if (servers.length > 1) leftovers.add('servers', `The document has ${servers.length} servers; the first one is used.`)
  const resolved = URL.parse(url === '' ? '/' : url, source === '' ? undefined : source)
  if (resolved && /^https?:$/.test(resolved.protocol)) {
    return `${resolved.origin}${resolved.pathname}`.replace(/\/+$/, '')
  }
  leftovers.add('servers', 'The document does not name its server: the credential names it in the field baseUrl.')
  return `{baseUrl}${url.startsWith('/') ? url.replace(/\/+$/, '').split(/[?#]/)[0] : ''}`
}

function documentationOf({ externalDocs }: Record<string, unknown>): string | undefined {
  const url = isObject(externalDocs) ? externalDocs['url'] : undefined
  return typeof url === 'string' && /^https?:\/\//.test(url) && url.length <= 2_000 ? url : undefined
}

/** The target of a reference within the document. */
function pointed(document: unknown, reference: string): unknown {
  if (!reference.startsWith('#')) return undefined
  let current: unknown = document
  for (const step of reference.slice(1).split('/').slice(1)) {
    const name = decoded(step).replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, name)) return undefined
    current = (current as Record<string, unknown>)[name]
  }
  return current
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** `listAllOrders` as words: List all orders. */
function words(id: string | undefined): string | undefined {
  if (id === undefined) return undefined
  const spaced = id
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/[_./-]+/g, ' ')
    .trim()
    .toLowerCase()
  return spaced === '' ? undefined : spaced.charAt(0).toUpperCase() + spaced.slice(1)
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : []
}
