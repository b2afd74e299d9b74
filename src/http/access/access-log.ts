import { type AnyElysia, Elysia } from 'elysia'
import type { Door } from './door.ts'

/** Counts every response of the routes registered after it, and writes its line to the access log. */
export function accessLog(door: Door): AnyElysia {
  return new Elysia().mapResponse({ as: 'global' }, ({ request, set, route, responseValue }) => {
    const own = responseValue instanceof Response ? responseValue : undefined
    const status = own?.status ?? (typeof set.status === 'number' ? set.status : 200)
    door.onResponse(request, { route, status, bytes: () => (own ? null : bytesOf(responseValue)) })
  })
}

function bytesOf(response: unknown): number {
  if (response === undefined || response === null) return 0
  if (response instanceof Uint8Array) return response.byteLength
  return Buffer.byteLength(typeof response === 'string' ? response : JSON.stringify(response))
}
