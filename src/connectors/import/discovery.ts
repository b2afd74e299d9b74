import type { Connector, Operation, ValueSchema } from '../../domain/connector/connector.ts'
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
import { importedSchema, type SchemaContext, schemaPartsMax } from './schema.ts'

/** A Google API Discovery document as a connector. Throws `ImportError`. */
export function importDiscovery(document: Record<string, unknown>, { id, operations }: ImportOptions): Imported {
  const leftovers = new Leftovers()
  const schemas = isObject(document['schemas']) ? document['schemas'] : {}
  const context: SchemaContext = {
    ...{ leftovers, partsLeft: schemaPartsMax },
    resolve: (name) => (Object.hasOwn(schemas, name) ? schemas[name] : undefined),
  }
  const wanted = operations && new Set(operations)
  const taken = new TakenOperations(leftovers)
  for (const { name, method, path } of methodsIn(document, '')) {
    if (wanted && !wanted.has(name)) continue
    taken.add(operationIdOf(name, taken.all), path, () => operationOf(method, path, context))
  }
  if (taken.isEmpty) throw new ImportError('The Discovery document has none of the operations.')
  const root = textOf(document['rootUrl']) ?? 'https://www.googleapis.com/'
  const baseUrl = `${root}${textOf(document['servicePath']) ?? ''}`.replace(/\/+$/, '')
  const title = firstLine(document['title'], 200) ?? textOf(document['name']) ?? 'Google API'
  const scopes = scopesOf(document)
  const host = URL.parse(baseUrl)?.host
  const hosts = host === undefined ? {} : { hosts: [host] }
  const connector: Connector = given({
    ...{ id: id ?? connectorIdOf(textOf(document['name']) ?? title), name: title },
    ...{ description: shortText(document['description'], 500), baseUrl },
    documentation: /^https?:\/\//.test(textOf(document['documentationLink']) ?? '')
      ? textOf(document['documentationLink'])
      : undefined,
    credentials: [
      {
        ...{ kind: 'oauth2_authorization_code' as const, label: 'Sign in with Google', ...hosts },
        fields: {
          authorizationUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
          tokenUrl: 'https://oauth2.googleapis.com/token',
          scope: scopes,
          parameters: { access_type: 'offline', prompt: 'consent' },
        },
      },
      { kind: 'google_service_account' as const, label: 'Service account', ...hosts, fields: { scope: scopes } },
    ],
    operations: taken.all,
  })
  return { connector, notTaken: leftovers.list }
}

type Found = { name: string; method: Record<string, unknown>; path: string }

function* methodsIn(node: Record<string, unknown>, path: string, depth = 0): Generator<Found> {
  if (depth > 10) return
  for (const [name, method] of Object.entries(isObject(node['methods']) ? node['methods'] : {})) {
    if (!isObject(method)) continue
    // `sheets.spreadsheets.get` without the name of the API.
    const full = textOf(method['id'])?.split('.').slice(1).join('.')
    yield { name: full || name, method, path: `${path}methods.${name}` }
  }
  for (const [name, resource] of Object.entries(isObject(node['resources']) ? node['resources'] : {})) {
    if (isObject(resource)) yield* methodsIn(resource, `${path}resources.${name}.`, depth + 1)
  }
}

function operationOf(method: Record<string, unknown>, at: string, context: SchemaContext): Operation | undefined {
  const { httpMethod, parameters, request, supportsMediaUpload } = method
  if (!['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].includes(String(httpMethod))) {
    context.leftovers.add(at, `Operations do not use the method ${String(httpMethod).slice(0, 20)}.`)
    return undefined
  }
  if (supportsMediaUpload === true) context.leftovers.add(at, 'The upload of media is not taken.')
  // A {+name} has slashes; the flat path has a name for each of its parts.
  const written = textOf(method['path']) ?? ''
  const flat = textOf(method['flatPath'])
  const isFlat = written.includes('{+') && flat !== undefined
  const path = `/${(isFlat ? flat : written).replaceAll('{+', '{').replace(/^\//, '')}`
  const inPath = [...path.matchAll(/\{([^{}]+)\}/g)].map(([, name = '']) => name)
  const properties: Properties = {}
  const required = [...inPath]
  for (const name of inPath) properties[name] = { type: 'string', in: 'path' }
  for (const [name, parameter] of Object.entries(isObject(parameters) ? parameters : {})) {
    if (!isObject(parameter)) continue
    const isInPath = parameter['location'] === 'path'
    if (isInPath && !inPath.includes(name)) continue
    const schema = importedSchema(parameter, `${at}.parameters.${name}`, context)
    const isList = parameter['repeated'] === true
    const whole: ValueSchema = isList ? { type: 'array', items: schema } : schema
    properties[name] = { ...whole, in: isInPath ? 'path' : 'query' }
    if (parameter['required'] === true && !required.includes(name)) required.push(name)
  }
  const hasBody = httpMethod !== 'GET' && httpMethod !== 'DELETE'
  const body = isObject(request) && hasBody ? importedSchema(request, `${at}.request`, context) : {}
  for (const [name, member] of Object.entries(body.properties ?? {}).slice(0, 150)) {
    const key = Object.hasOwn(properties, name) ? `${name}_body` : name
    properties[key] = { ...member, ...(key === name ? {} : { name }), in: 'body' }
  }
  const description = shortText(method['description'], 1_000)
  const id = textOf(method['id']) ?? written
  const label = firstLine(description?.split(/(?<=\.)\s/)[0]?.replace(/\.$/, ''), 100) ?? id
  const isPaged = properties['pageToken'] !== undefined && properties['pageToken'].in === 'query'
  const items = isPaged ? listIn(method['response'], context) : undefined
  return given({
    ...{ label, description, method: httpMethod as Operation['method'], path },
    parameters:
      Object.keys(properties).length === 0
        ? undefined
        : { type: 'object', properties, ...(required.length > 0 ? { required } : {}) },
    pagination:
      items === undefined ? undefined : { type: 'cursor' as const, cursor: 'nextPageToken', param: 'pageToken', items },
    error: { message: 'error.message' },
  }) as Operation
}

/** The only list in a response with pages. */
function listIn(response: unknown, { resolve }: SchemaContext): string | undefined {
  const reference = isObject(response) ? textOf(response['$ref']) : undefined
  const schema = reference === undefined ? undefined : resolve(reference)
  const members = isObject(schema) && isObject(schema['properties']) ? schema['properties'] : {}
  if (!Object.hasOwn(members, 'nextPageToken')) return undefined
  const lists = Object.entries(members).filter(([, member]) => isObject(member) && member['type'] === 'array')
  return lists.length === 1 ? lists[0]![0] : undefined
}

function scopesOf({ auth }: Record<string, unknown>): string {
  const oauth = isObject(auth) && isObject(auth['oauth2']) ? auth['oauth2'] : {}
  const scopes = Object.keys(isObject(oauth['scopes']) ? oauth['scopes'] : {})
  // The first one usually includes the others.
  return scopes[0] ?? ''
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
