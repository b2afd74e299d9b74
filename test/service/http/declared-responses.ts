import { findBreaches } from './json-schema.ts'
import type { Parsed } from './world.ts'

export type SeenResponse = { status: number; json: unknown; headers: Headers }

/**
 * Compares every response that a test receives with the OpenAPI document: its status is declared, its body fits the
 * schema and has no undeclared member, and its declared headers are present. So clients are told everything that the
 * tests rely on.
 */
export class DeclaredResponses {
  readonly #openApi: Parsed
  readonly #paths: { pattern: RegExp; path: string }[]

  constructor(openApi: Parsed) {
    this.#openApi = openApi
    this.#paths = Object.keys(openApi.paths).map((path) => {
      const source = path.split('/').map((step) => (step.startsWith('{') ? '[^/]+' : RegExp.escape(step)))
      return { pattern: new RegExp(`^${source.join('/')}/?$`), path }
    })
  }

  /** Throws when the document does not declare this response. Ignores paths and methods without an operation. */
  assert(method: string, address: string, response: SeenResponse): void {
    const operation = this.#operationAt(method === 'HEAD' ? 'get' : method.toLowerCase(), pathIn(address))
    if (!operation) return
    // A workflow's response block may return anything.
    if (operation.responses.default && response.headers.has('x-execution-id')) return
    const complaints = this.#complaints(operation, response, method !== 'HEAD')
    if (complaints.length > 0)
      throw new Error(`${method} ${address} answered ${response.status}: ${complaints.join('; ')}`)
  }

  #complaints(operation: Parsed, { status, json, headers }: SeenResponse, hasBody: boolean): string[] {
    const declared = operation.responses[status]
    if (!declared) return [`declared are only ${Object.keys(operation.responses).join(', ')}`]
    const isExecution = operation.responses.default !== undefined
    const missing = Object.keys(declared.headers).filter((name) => {
      return (
        !headers.has(name) &&
        name !== 'X-Execution-Id' &&
        name !== 'X-Run-Id' &&
        !(isExecution && name.startsWith('X-RateLimit'))
      )
    })
    const type = headers.get('content-type')?.split(';')[0] ?? ''
    if (hasBody && declared.content && !Object.hasOwn(declared.content, type))
      missing.push(`content of the type ${type}`)
    const schema = declared.content?.['application/json']?.schema
    const isJson = headers.get('content-type')?.startsWith('application/json') ?? false
    const errors = schema && hasBody && isJson ? findBreaches(json, schema, this.#openApi, '$', true) : []
    return [...missing.map((name) => `${name} is missing`), ...errors]
  }

  #operationAt(method: string, path: string): Parsed | undefined {
    const known =
      this.#paths.find((each) => each.path === path) ?? this.#paths.find(({ pattern }) => pattern.test(path))
    const operation = known && this.#openApi.paths[known.path][method]
    // Routes that a test adds are not described.
    return operation?.summary === undefined ? undefined : operation
  }
}

function pathIn(address: string): string {
  return address.replace(/[?#].*$/s, '')
}
