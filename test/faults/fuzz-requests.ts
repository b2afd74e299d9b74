import { deflateSync, gzipSync } from 'node:zlib'
import { type AccessRow, accessTable } from '../service/http/access/access-table.ts'
import {
  contentTypes,
  headerValues,
  inputs,
  junkJson,
  junkSegments,
  junkValues,
  junkWords,
  methods,
  oddHeaders,
  rawHeaders,
} from './fuzz-junk.ts'

/** One request, and whether every server must refuse it. */
export type FuzzedRequest = {
  route: string
  method: string
  path: string
  headers: [string, string][]
  body: Uint8Array | undefined
  /** Why the request is invalid by construction; undefined when it may be valid. */
  invalid: string | undefined
}

/** The objects and credentials that requests name. */
export type FuzzFixtures = {
  apiKey: string
  cookie: string
  /** IDs by the names in the access table. Routes that start runs get the workflow `target`. */
  ids: Record<string, string>
}

/** Returns 0 ≤ n < 1; the same numbers for the same seed. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** The rows of all routes: those of the access table, and those that only the OpenAPI document has. */
export function fuzzedRows(openapi: OpenApi): AccessRow[] {
  const known = new Set(accessTable.map(({ route }) => route))
  const more = Object.entries(openapi.paths).flatMap(([path, item]) =>
    Object.keys(item)
      .filter((method) => /^(get|put|post|patch|delete|head)$/.test(method))
      .map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`)
      .filter((route) => !known.has(route))
      .map(
        (route) =>
          ({ route, at: (route.split(' ')[1] ?? '').replace(/:(\w+)/g, '<$1>'), needs: 'nothing', ok: 200 }) as const,
      ),
  )
  return [...accessTable, ...more]
}

export type OpenApi = {
  paths: Record<string, Record<string, { parameters?: readonly { name: string; in: string }[] }>>
}

/** Makes malformed and mutated requests. */
export class RequestFuzzer {
  readonly #random: () => number
  readonly #rows: readonly AccessRow[]
  readonly #queryNames: readonly string[]
  fixtures: FuzzFixtures

  constructor(random: () => number, openapi: OpenApi, fixtures: FuzzFixtures) {
    this.#random = random
    this.#rows = fuzzedRows(openapi)
    const operations = Object.values(openapi.paths).flatMap((item) => Object.values(item))
    const parameters = operations.flatMap(({ parameters = [] }) => parameters)
    this.#queryNames = [...new Set(parameters.filter((each) => each.in === 'query').map(({ name }) => name))]
    this.fixtures = fixtures
  }

  /** Bytes that no HTTP client would send. */
  raw(): string {
    const method = this.#pick(['GET', 'POST', 'G ET', '', 'POST\u0000', 'x'.repeat(3_000), 'PUT'])
    const target = this.#pick([
      '/',
      '*',
      '//',
      'http://',
      '/health?%',
      '/api/workflows',
      `/${'a'.repeat(9_000)}`,
      '\u0001',
    ])
    const version = this.#pick(['HTTP/1.1', 'HTTP/1.0', 'HTTP/9.9', 'http', ''])
    const lines = Array.from({ length: Math.floor(this.#random() * 5) }, () => this.#pick(rawHeaders))
    const host = this.#chance(0.8) ? ['Host: 127.0.0.1'] : []
    const key = this.#chance(0.5) ? [`X-API-Key: ${this.fixtures.apiKey}`] : []
    const body = this.#pick(['', '{}', '5\r\nhello\r\n0\r\n\r\n', 'zz\r\n', '-1\r\n\r\n', 'GET / HTTP/1.1\r\n\r\n'])
    return this.#mutateText([`${method} ${target} ${version}`, ...host, ...key, ...lines, '', body].join('\r\n'))
  }

  next(): FuzzedRequest {
    let row = this.#pick(this.#rows)
    // Checking a password takes long on purpose.
    while (slow.test(row.route) && this.#random() < 0.95) row = this.#pick(this.#rows)
    const [routeMethod = 'GET'] = row.route.split(' ')
    const method = this.#chance(0.88)
      ? routeMethod === 'ALL'
        ? this.#pick(methods)
        : routeMethod
      : this.#pick(methods)
    const headers: [string, string][] = [['x-forwarded-for', this.#address()]]
    const credentials = this.#credentials(row, headers)
    const { path, isUnknown, isMutated } = this.#path(row)
    const sends = method !== 'GET' && method !== 'HEAD' && (row.body !== undefined || this.#chance(0.3))
    const made = sends ? this.#body(row, headers) : undefined
    this.#oddHeaders(headers)
    const isUsual = method === routeMethod && !isMutated
    const invalid = !isUsual ? undefined : (credentials ?? isUnknown ?? made?.invalid)
    return { route: row.route, method, path, headers, body: made?.bytes, invalid }
  }

  #pick<Value>(values: readonly Value[]): Value {
    return values[Math.floor(this.#random() * values.length)]!
  }

  #chance(share: number): boolean {
    return this.#random() < share
  }

  /** There are many visitors, so that a rate limit by address does not hide everything else. */
  #address(): string {
    return Array.from({ length: 4 }, () => 1 + Math.floor(this.#random() * 222)).join('.')
  }

  /** Adds credentials. Returns why they are invalid. */
  #credentials({ at, needs }: AccessRow, headers: [string, string][]): string | undefined {
    const needed = needs !== 'nothing' && needs !== 'page'
    const isEditor = at.startsWith('/api/editor/')
    if (this.#chance(0.85)) {
      if (isEditor) headers.push(['cookie', this.fixtures.cookie], ['sec-fetch-site', 'same-origin'])
      else headers.push(['x-api-key', this.fixtures.apiKey])
      return undefined
    }
    const kind = this.#pick(['none', 'key', 'cookie', 'scheme'] as const)
    if (kind === 'key') headers.push(['x-api-key', this.#pick(junkWords) || 'x'])
    if (kind === 'cookie') headers.push(['cookie', `millrace_session=${this.#ascii(40)}`])
    if (kind === 'scheme') headers.push(['authorization', `Bearer ${this.#ascii(20)}`])
    return needed ? `credentials: ${kind}` : undefined
  }

  /** Fills in the IDs of the fixtures or junk. */
  #path({ route, at }: AccessRow): { path: string; isUnknown: string | undefined; isMutated: boolean } {
    let isUnknown: string | undefined
    const runs = /\/(execute|chat|runs)\b/.test(route)
    let path = at.replace(/<(\w+)>/g, (_, name: string) => {
      const known = this.fixtures.ids[runs && name === 'workflow' ? 'target' : name]
      if (known !== undefined && this.#chance(0.75)) return known
      if (this.#chance(0.5)) {
        isUnknown = at.includes('?') || !/^\/api\/(workflows|jobs)\//.test(at) ? undefined : `no such ${name}`
        return crypto.randomUUID()
      }
      return this.#pick(junkSegments)
    })
    // It may be the path of another route now.
    const isMutated = this.#chance(0.1)
    if (isMutated) path = this.#mutateText(path).replace(/[\s#\\]/g, '')
    if (this.#chance(0.35)) {
      const pairs = Array.from({ length: 1 + Math.floor(this.#random() * 4) }, () => {
        const name = this.#chance(0.8) ? this.#pick(this.#queryNames) : this.#pick(junkSegments)
        return `${name}=${this.#pick(junkValues)}`
      })
      path += `${path.includes('?') ? '&' : '?'}${pairs.join('&')}`
    }
    return { path: path.startsWith('/') ? path : `/${path}`, isUnknown, isMutated }
  }

  #body({ route, body = '{}', at }: AccessRow, headers: [string, string][]): { bytes: Uint8Array; invalid?: string } {
    const filled = body.replace(/<(\w+)>/g, (_, name: string) => this.fixtures.ids[name] ?? name)
    const text = /execute|webhooks\/trigger/.test(route) && this.#chance(0.5) ? this.#pick(inputs) : filled
    const readsJson = /^(POST|PUT|PATCH)/.test(route) && text.length > 2 && !at.includes('webhooks/trigger')
    const kind = this.#random()
    if (kind < 0.1) {
      headers.push(['content-type', 'application/json'])
      const cut = text.slice(0, 1 + Math.floor(this.#random() * (text.length - 1)))
      return { bytes: encode(cut), ...(readsJson ? { invalid: 'JSON cut short' } : {}) }
    }
    if (kind < 0.15) {
      headers.push(['content-type', 'application/json'])
      const depth = 201 + Math.floor(this.#random() * 500)
      const deep = `{"name":"x","a":${'['.repeat(depth)}${']'.repeat(depth)}}`
      return { bytes: encode(deep), ...(readsJson ? { invalid: 'JSON too deep' } : {}) }
    }
    if (kind < 0.25) return this.#compressed(text, headers, readsJson)
    if (kind < 0.35) return { bytes: this.#form(headers) }
    headers.push(['content-type', this.#chance(0.85) ? 'application/json' : this.#pick(contentTypes)])
    if (kind < 0.7) return { bytes: encode(this.#mutateJson(text)) }
    if (kind < 0.9) return { bytes: encode(this.#mutateText(text)) }
    const bytes = encode(text)
    for (let n = 0; n < 4; n += 1) bytes[Math.floor(this.#random() * bytes.length)] = Math.floor(this.#random() * 256)
    return { bytes }
  }

  #compressed(text: string, headers: [string, string][], readsJson: boolean) {
    const encoding = this.#pick(['gzip', 'deflate', 'zstd', 'br', 'identity', 'x', 'gzip, gzip'])
    headers.push(['content-type', 'application/json'], ['content-encoding', encoding])
    if (encoding === 'gzip' && this.#chance(0.5)) {
      return { bytes: encode(`no gzip ${text}`), ...(readsJson ? { invalid: 'not compressed' } : {}) }
    }
    const compressed =
      encoding === 'zstd' ? Bun.zstdCompressSync(text) : encoding === 'deflate' ? deflateSync(text) : gzipSync(text)
    const bytes = new Uint8Array(compressed)
    if (this.#chance(0.5)) bytes[Math.floor(this.#random() * bytes.length)] = Math.floor(this.#random() * 256)
    return { bytes: this.#chance(0.3) ? bytes.subarray(0, bytes.length / 2) : bytes }
  }

  #form(headers: [string, string][]): Uint8Array {
    if (this.#chance(0.5)) {
      headers.push(['content-type', 'application/x-www-form-urlencoded'])
      return encode(Array.from({ length: 5 }, () => `${this.#pick(junkSegments)}=${this.#pick(junkValues)}`).join('&'))
    }
    const boundary = this.#pick(['b', '', '"', 'x'.repeat(80)])
    headers.push(['content-type', `multipart/form-data; boundary=${boundary}`])
    const part = `--${boundary}\r\nContent-Disposition: form-data; name="${this.#pick(junkWords)}"; filename="a"\r\n\r\nx\r\n`
    return encode(this.#mutateText(`${part + part}--${boundary}--`))
  }

  /** Replaces, adds or removes values. */
  #mutateJson(text: string): string {
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch {
      return text
    }
    const change = (node: unknown): unknown => {
      if (this.#chance(0.15)) return this.#pick(junkJson)
      if (Array.isArray(node)) return [...node, ...(this.#chance(0.1) ? node : [])].map(change)
      if (node === null || typeof node !== 'object') return this.#chance(0.2) ? this.#pick(junkJson) : node
      const entries = Object.entries(node).filter(() => !this.#chance(0.08))
      if (this.#chance(0.15)) entries.push([this.#pick(junkWords), this.#pick(junkJson)])
      return Object.fromEntries(
        entries.map(([name, each]) => [this.#chance(0.03) ? this.#pick(junkWords) : name, change(each)]),
      )
    }
    return JSON.stringify(change(value)) ?? 'undefined'
  }

  #mutateText(text: string): string {
    let mutated = text
    for (let n = 1 + Math.floor(this.#random() * 3); n > 0; n -= 1) {
      const at = Math.floor(this.#random() * (mutated.length + 1))
      const end = at + Math.floor(this.#random() * 8)
      const insert = this.#pick([this.#pick(junkWords), this.#pick(junkSegments), mutated.slice(at, end), ''])
      mutated = mutated.slice(0, at) + insert + mutated.slice(end)
    }
    return mutated
  }

  #oddHeaders(headers: [string, string][]): void {
    while (this.#chance(0.3)) headers.push([this.#pick(oddHeaders), this.#pick(headerValues)])
  }

  #ascii(length: number): string {
    return Array.from({ length }, () => String.fromCharCode(48 + Math.floor(this.#random() * 42))).join('')
  }
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

const slow = /session|password|email$/
