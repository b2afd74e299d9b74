import type { Document } from './document.ts'

/** Example input for a trigger: the sample values of its input format, otherwise a value of the declared type. */
export function exampleInput(document: Document, trigger = 'api_trigger'): Record<string, unknown> {
  const block = Object.values(document.blocks).find(({ type }) => type === trigger)
  const format = block?.params?.['inputFormat']
  if (!Array.isArray(format)) return Object.hasOwn(requests, trigger) ? requests[trigger]! : {}
  return Object.fromEntries(
    (format as { name?: string; type?: string; value?: unknown }[]).flatMap(({ name, type, value }) =>
      name ? [[name, value ?? examples[type ?? 'string'] ?? 'text']] : [],
    ),
  )
}

const examples: Record<string, unknown> = {
  string: 'text',
  number: 1,
  boolean: true,
  object: {},
  array: [],
  files: [{ type: 'url', data: 'https://example.com/file.pdf', name: 'file.pdf' }],
}

/** Example inputs of triggers without an input format. */
const requests: Record<string, Record<string, unknown>> = {
  webhook_trigger: { body: {}, headers: {}, query: {}, method: 'POST' },
  chat_trigger: { input: 'Hello' },
}
