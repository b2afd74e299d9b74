import type { ResponseSet } from './door.ts'

/** JSON that is written already (a column of the store): it goes into a response as it is, without being parsed again. */
export class JsonText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** An object as JSON. Its own members may be `JsonText`; undefined ones are left out. */
export function writeObject(members: Record<string, unknown>): JsonText {
  const parts: string[] = []
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined) continue
    parts.push(`${JSON.stringify(name)}:${value instanceof JsonText ? value.text : JSON.stringify(value)}`)
  }
  return new JsonText(`{${parts.join(',')}}`)
}

/**
 * Responds with JSON that is written already. What leaves the handler is the text; its type is the one that the text
 * stands for, because that is what the caller gets and what the typed client should see. A text and not a `Response`:
 * Elysia would wrap that into a second one for the headers in `set`, with its body as a stream of unknown length.
 */
export function respondWith<Body>(set: ResponseSet, { text }: JsonText): Body {
  set.headers['content-type'] = 'application/json'
  return text as unknown as Body
}

/**
 * Responds with JSON that is written while it is sent. Elysia makes a `Response` of its own out of this one, with the
 * headers in `set` and the same stream as its body, so back-pressure and the caller's leaving reach the stream.
 */
export function streamWith<Body>(stream: ReadableStream<Uint8Array>): Body {
  return new Response(stream, { headers: { 'content-type': 'application/json' } }) as unknown as Body
}
