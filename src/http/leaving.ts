import { type AnyElysia, Elysia } from 'elysia'
import type { Door } from './door.ts'

/** Sees every answer of the routes registered after it out: it is counted, and gets its line. */
export function leaving(door: Door): AnyElysia {
  return new Elysia().mapResponse({ as: 'global' }, ({ request, set, route, responseValue }) => {
    const own = responseValue instanceof Response ? responseValue : undefined
    const status = own?.status ?? (typeof set.status === 'number' ? set.status : 200)
    door.leave(request, { route, status, bytes: () => (own ? null : bytesOf(responseValue)) })
  })
}

function bytesOf(answer: unknown): number {
  if (answer === undefined || answer === null) return 0
  if (answer instanceof Uint8Array) return answer.byteLength
  return Buffer.byteLength(typeof answer === 'string' ? answer : JSON.stringify(answer))
}
