import type { Connector, Operation, ValueSchema } from '../../domain/connector/connector.ts'
import { bodyOf } from '../../domain/curl/api-parameters.ts'
import { type ForeignRequest, readCurl } from '../../domain/curl/curl.ts'
import { isObject } from '../../domain/run/input.ts'
import {
  connectorIdOf,
  ImportError,
  type Imported,
  type ImportOptions,
  Leftovers,
  operationIdOf,
  TakenOperations,
} from './imported.ts'

/** A cURL command as a connector with one operation. Throws `ImportError`. */
export function importCurl(command: string, options: ImportOptions): Imported {
  const read = readCurl(command)
  if (!read) throw new ImportError('The cURL command has no URL.')
  const leftovers = new Leftovers()
  for (const { path, reason } of read.notTaken) leftovers.add(path, reason)
  return connectorFrom([{ request: read.request, path: 'curl' }], options, leftovers)
}

/** The requests of a HAR file, which browsers export, as a connector. Throws `ImportError`. */
export function importHar(document: Record<string, unknown>, options: ImportOptions): Imported {
  const log = document['log']
  const entries = isObject(log) && Array.isArray(log['entries']) ? (log['entries'] as unknown[]) : []
  const leftovers = new Leftovers()
  const requests = entries.flatMap((entry, index) => {
    const path = `log.entries.${index}`
    const request =
      isObject(entry) && isObject(entry['request']) ? requestOf(entry['request'], path, leftovers) : undefined
    return request ? [{ request, path }] : []
  })
  return connectorFrom(requests, options, leftovers)
}

function requestOf(written: Record<string, unknown>, path: string, leftovers: Leftovers): ForeignRequest | undefined {
  const { method, url, headers, postData, cookies } = written
  if (typeof method !== 'string' || typeof url !== 'string') return undefined
  if (Array.isArray(cookies) && cookies.length > 0) leftovers.add(`${path}.cookies`, 'Cookies are not taken.')
  const pairs = (Array.isArray(headers) ? (headers as unknown[]) : []).flatMap((header): [string, string][] => {
    if (!isObject(header) || typeof header['name'] !== 'string' || typeof header['value'] !== 'string') return []
    return [[header['name'], header['value']]]
  })
  const body = isObject(postData) && typeof postData['text'] === 'string' ? { body: postData['text'] } : {}
  return { method: method.toUpperCase(), url, headers: pairs, ...body }
}

type Placed = { request: ForeignRequest; path: string }

function connectorFrom(
  requests: readonly Placed[],
  { id, operations: named }: ImportOptions,
  leftovers: Leftovers,
): Imported {
  const wanted = named && new Set(named)
  const first = requests
    .map(({ request }) => URL.parse(request.url))
    .find((url) => url !== null && /^https?:$/.test(url.protocol))
  if (!first) throw new ImportError('There is no request to an http or https URL.')
  const taken = new TakenOperations(leftovers)
  const seen = new Set<string>()
  for (const { request, path } of requests) {
    const url = URL.parse(request.url)
    const key = url && `${request.method} ${url.pathname}`
    if (url?.origin !== first.origin) {
      leftovers.add(
        path,
        `The request goes to ${url?.origin ?? 'no URL'}, but a connector has one origin: ${first.origin}.`,
      )
    } else if (!methods.has(request.method)) {
      leftovers.add(path, `Operations do not use the method ${request.method.slice(0, 20)}.`)
    } else if (seen.has(key!)) leftovers.add(path, `Another request has the same method and path: ${key}.`)
    else {
      seen.add(key!)
      const name = operationIdOf(`${request.method.toLowerCase()}${url.pathname.replaceAll(/\W+/g, '_')}`, taken.all)
      if (wanted && !wanted.has(name)) continue
      taken.add(name, path, () => operationFrom(request, url, path, leftovers))
    }
  }
  if (taken.isEmpty) throw new ImportError('None of the requests can be taken.')
  const connector: Connector = {
    ...{ id: id ?? connectorIdOf(first.hostname), name: first.hostname, baseUrl: first.origin },
    ...{ credentials: [{ kind: 'bearer', hosts: [first.host] }], operations: taken.all },
  }
  return { connector, notTaken: leftovers.list }
}

const methods = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])

/** The values of the request become the defaults of the parameters. */
function operationFrom(request: ForeignRequest, url: URL, path: string, leftovers: Leftovers): Operation {
  const { method } = request
  const properties: Record<string, ValueSchema> = {}
  for (const [name, value] of url.searchParams) {
    if (isSecretName(name))
      leftovers.add(`${path} ?${name}`, 'The parameter looks like a secret: create a credential for it.')
    else properties[name] = { type: 'string', default: value, in: 'query' }
  }
  const hasBody = method !== 'GET' && method !== 'DELETE'
  const { bodyType, body } = bodyOf(request)
  let kind: Operation['body']
  if (hasBody && bodyType === 'json' && isObject(body)) {
    for (const [name, value] of Object.entries(body))
      properties[freeName(name, properties)] = { ...schemaOf(value), name, in: 'body' }
  } else if (hasBody && Array.isArray(body) && (bodyType === 'form' || bodyType === 'multipart')) {
    kind = bodyType
    for (const { key, value } of body as { key: string; value: string }[]) {
      properties[freeName(key, properties)] = { type: 'string', default: value, name: key, in: 'body' }
    }
    for (const { name } of request.form?.filter(({ isFile }) => isFile) ?? []) {
      properties[freeName(name, properties)] = { title: name, description: 'A file.', name, in: 'body' }
    }
  } else if (hasBody && body !== undefined) {
    kind = 'raw'
    properties[freeName('body', properties)] = { type: 'string', default: String(request.body), in: 'body' }
  }
  const headers = keptHeaders(request, path, leftovers)
  const label = `${method} ${url.pathname}`.slice(0, 200)
  return {
    ...{ label, method: method as Operation['method'], path: url.pathname.replaceAll(/[{}]/g, encodeURIComponent) },
    ...(Object.keys(properties).length > 0 ? { parameters: { type: 'object', properties } } : {}),
    ...(kind ? { body: kind } : {}),
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
  }
}

/** Headers that say something about the request, and not about the browser. */
function keptHeaders({ headers }: ForeignRequest, path: string, leftovers: Leftovers): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const [name, value] of headers) {
    if (/^(authorization|cookie|proxy-authorization)$/i.test(name) || isSecretName(name)) {
      leftovers.add(`${path} ${name}`, `The header ${name} has a secret, and is not taken: create a credential.`)
    } else if (/^(accept|content-type|x-(?!forwarded|requested)[\w-]+|[\w-]*version)$/i.test(name)) {
      if (!/^content-type$/i.test(name) || !/json|form/i.test(value)) kept[name] = value.slice(0, 2_000)
    }
  }
  return kept
}

function isSecretName(name: string): boolean {
  return /(^|[-_])(api[-_]?key|token|secret|password|auth|signature|csrf|xsrf)($|[-_])/i.test(name)
}

function freeName(name: string, taken: Readonly<Record<string, unknown>>): string {
  return Object.hasOwn(taken, name) ? `${name}_body` : name
}

function schemaOf(value: unknown): ValueSchema {
  if (value === null) return {}
  if (Array.isArray(value)) return { type: 'array', default: value }
  if (isObject(value)) return { type: 'object', default: value }
  if (typeof value === 'number') return { type: Number.isInteger(value) ? 'integer' : 'number', default: value }
  return { type: typeof value, default: value }
}
