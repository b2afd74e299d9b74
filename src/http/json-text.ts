import type { AnswerSet } from './door.ts'

/** JSON that is written already (a column of the store): it goes into an answer as it is, without being parsed again. */
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

export function writeList(items: readonly JsonText[]): JsonText {
  return new JsonText(`[${items.map(({ text }) => text).join(',')}]`)
}

/**
 * Answers with JSON that is written already. What leaves the handler is the text; its type is the one that the text
 * stands for, because that is what the caller gets and what the typed client should see. A text and not a `Response`:
 * Elysia would wrap that into a second one for the headers in `set`, with its body as a stream of unknown length.
 */
export function answerWith<Answer>(set: AnswerSet, { text }: JsonText): Answer {
  set.headers['content-type'] = 'application/json'
  return text as unknown as Answer
}
