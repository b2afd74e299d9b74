import type { TSchema } from '@sinclair/typebox'
import type { DocumentDecoration } from 'elysia'
import { documented, type OperationTexts, operation } from './operation.ts'

/** Schemas by status. */
export type Responses = Readonly<Record<number, TSchema>>

/** A route's schemas, which are the client's types too, and its texts in the OpenAPI document. */
export type RouteTexts<Sent extends Responses, Body, Query> = OperationTexts & {
  body?: Body
  query?: Query
  responses: Sent
}

export type RouteOptions<Sent extends Responses, Body, Query> = {
  parse: 'none'
  response: Sent
  detail: DocumentDecoration
} & (Body extends TSchema ? { body: Body } : unknown) &
  (Query extends TSchema ? { query: Query } : unknown)

/**
 * The options of a route. The framework neither parses a body, which handlers read after they checked the caller, nor
 * checks a response: one that does not match its schema would turn a readable document into a 500. The tests check
 * responses instead.
 */
export function route<
  const Sent extends Responses,
  Body extends TSchema | undefined = undefined,
  Query extends TSchema | undefined = undefined,
>({ body, query, responses, ...texts }: RouteTexts<Sent, Body, Query>): RouteOptions<Sent, Body, Query> {
  const response = Object.entries(responses).map(([status, schema]) => [status, documented(schema)])
  return {
    parse: 'none',
    ...(body && { body: documented(body) }),
    ...(query && { query: documented(query) }),
    response: Object.fromEntries(response),
    detail: operation(texts),
  } as RouteOptions<Sent, Body, Query>
}

/** The options of a route that only the dashboard uses. */
export function editorRoute<
  const Sent extends Responses,
  Body extends TSchema | undefined = undefined,
  Query extends TSchema | undefined = undefined,
>(texts: Omit<RouteTexts<Sent, Body, Query>, 'tag' | 'access'>): RouteOptions<Sent, Body, Query> {
  return route({ ...texts, tag: 'Editor', access: 'session' } as RouteTexts<Sent, Body, Query>)
}
