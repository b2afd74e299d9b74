import type { Api } from '../../http/server.ts'
import { ApiError } from './api-error.ts'

/**
 * Calls the service: `call('GET /api/workflows/:id', { params: { id } })`. Names, parameters, bodies and responses have
 * the server's own types. Rejects with an `ApiError`.
 */
export async function call<Name extends RouteName>(name: Name, ...[given]: Given<Name>): Promise<ResponseOf<Name>> {
  const { params, query, body, headers, signal } = (given ?? {}) as LooseGiven
  const [method = 'GET', path = ''] = name.split(' ')
  const response = await send(addressOf(path, params, query), {
    method,
    credentials: 'same-origin',
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  })
  return (await readBody(response)) as ResponseOf<Name>
}

/** The URL of a route, for links and event streams. */
export function addressOf(path: string, params: Texts = {}, query: Query = {}): string {
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (typeof value === 'object' && value !== null) for (const each of value) search.append(name, each)
    else if (value !== undefined && value !== null && value !== '') search.set(name, String(value))
  }
  const text = search.toString()
  return text === '' ? filled : `${filled}?${text}`
}

async function send(address: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(address, request)
  } catch (cause) {
    if (request.signal?.aborted) throw cause
    throw new ApiError(
      0,
      'UNREACHABLE',
      'Millrace could not be reached. Check your connection, and that the service is running.',
    )
  }
}

async function readBody(response: Response): Promise<unknown> {
  const text = await response.text()
  let body: unknown
  try {
    body = text === '' ? undefined : JSON.parse(text)
  } catch {
    body = undefined
  }
  if (response.ok) return body
  const { error, code, details } = (body ?? {}) as Partial<{ error: string; code: string; details: ErrorDetails }>
  const message = error ?? `The service returned status ${response.status}.`
  throw new ApiError(response.status, code ?? 'UNKNOWN', message, details)
}

type Texts = Readonly<Record<string, string>>
type Query = Readonly<Record<string, string | number | boolean | readonly string[] | null | undefined>>
type ErrorDetails = { path: string; message: string }[]
type LooseGiven = { params?: Texts; query?: Query; body?: unknown; headers?: Texts; signal?: AbortSignal }

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** All routes of an Elysia type tree, as `{ name: 'GET /api/workflows/:id', spec }`. */
type Flat<Node, Path extends string = ''> = {
  [Part in keyof Node & string]: Part extends Method
    ? Node[Part] extends { response: unknown }
      ? { name: `${Uppercase<Part>} ${Path}`; spec: Node[Part] }
      : Flat<Node[Part], `${Path}/${Part}`>
    : Flat<Node[Part], Part extends '' ? Path : `${Path}/${Part}`>
}[keyof Node & string]

type Routes = Flat<Api['~Routes']>
export type RouteName = Routes['name']
type SpecOf<Name extends RouteName> = Extract<Routes, { name: Name }>['spec']

type SuccessOf<Response> = Response extends { 200: infer Success }
  ? Success
  : Response extends { 201: infer Success }
    ? Success
    : Response extends { 202: infer Success }
      ? Success
      : undefined

/** The body of a route's successful response. */
export type ResponseOf<Name extends RouteName> =
  SpecOf<Name> extends { response: infer Response } ? SuccessOf<Response> : never

type Part<Spec, Key extends string> = Spec extends { [K in Key]: infer Value } ? Value : unknown
type ParamsOf<Spec> = keyof Part<Spec, 'params'> extends never ? { params?: never } : { params: Part<Spec, 'params'> }
type BodyOf<Spec> = unknown extends Part<Spec, 'body'> ? { body?: unknown } : { body: Part<Spec, 'body'> }
type QueryOf<Spec> = unknown extends Part<Spec, 'query'> ? { query?: Query } : { query?: Part<Spec, 'query'> }

/** The arguments of a call to a route. */
export type GivenOf<Name extends RouteName> = ParamsOf<SpecOf<Name>> &
  BodyOf<SpecOf<Name>> &
  QueryOf<SpecOf<Name>> & { headers?: Texts; signal?: AbortSignal }

type Given<Name extends RouteName> =
  Record<never, never> extends GivenOf<Name> ? [given?: GivenOf<Name>] : [given: GivenOf<Name>]
