import type { TSchema } from '@sinclair/typebox'
import { type Responses, type RouteOptions, type RouteTexts, route } from './route.ts'

/** The options of a route of `/api/v2`. All of them need a key and are counted like those of the external API. */
export function routeV2<
  const Sent extends Responses,
  Body extends TSchema | undefined = undefined,
  Query extends TSchema | undefined = undefined,
>(texts: Omit<RouteTexts<Sent, Body, Query>, 'tag' | 'access'>): RouteOptions<Sent, Body, Query> {
  return route({ ...texts, tag: 'API v2', access: 'external' } as RouteTexts<Sent, Body, Query>)
}
