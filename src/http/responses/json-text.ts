import type { Redactor } from '../../domain/redaction/redactor.ts'
import { finish, type InSlices, isLargeValue, jsonInSlices, type Slices } from '../../domain/slices.ts'
import type { ResponseSet } from '../access/door.ts'

/** JSON text, for example a column of the store. It goes into a response unchanged, without being parsed. */
export class JsonText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** Writes an object as JSON. Members may be `JsonText`; undefined members are omitted. */
export function writeObject(members: Record<string, unknown>): JsonText {
  const parts: string[] = []
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined) continue
    parts.push(`${JSON.stringify(name)}:${value instanceof JsonText ? value.text : JSON.stringify(value)}`)
  }
  return new JsonText(`{${parts.join(',')}}`)
}

/**
 * Responds with JSON text. The handler returns the text, typed as the value that it represents, because the typed
 * client receives that value. It is not a `Response`: Elysia would wrap one in a second `Response` to add the headers
 * in `set`, with a body of unknown length.
 */
export function respondWith<Body>(set: ResponseSet, { text }: JsonText): Body {
  set.headers['content-type'] = 'application/json'
  return text as unknown as Body
}

/**
 * Responds with JSON in a body that counts until it is read. Elysia wraps this `Response` in its own, with the headers
 * in `set` and the same body, so that back-pressure and a disconnect reach the body.
 */
export function respondWithBody<Body>(set: ResponseSet, body: BodyInit): Body {
  if (typeof body === 'string') return respondWith<Body>(set, new JsonText(body))
  return new Response(body, { headers: { 'content-type': 'application/json' } }) as unknown as Body
}

/** The JSON of a value without secrets. A large one is written in slices. */
export async function shownJson(
  value: Readonly<Record<string, unknown>>,
  secrets: Redactor | undefined,
  inSlices: InSlices,
): Promise<JsonText> {
  const text = textOf(value, secrets)
  return new JsonText(isLargeValue(value) ? await inSlices(text) : finish(text))
}

function* textOf(value: Readonly<Record<string, unknown>>, secrets: Redactor | undefined): Slices<string> {
  const text = (yield* jsonInSlices(value)) as string
  return secrets ? yield* secrets.redactInSlices(text) : text
}
