import { Type as t } from '@sinclair/typebox'
import { isObject } from '../domain/run/input.ts'
import { asText } from '../domain/workflow/reference.ts'
import { BlockError, defineBlock, type ResponseHeaders } from '../engine/block.ts'

export const response = defineBlock({
  type: 'response',
  label: 'Response',
  description: 'Ends the run and sends a response to its caller.',
  kind: 'step',
  isRepeatable: true,
  parameters: t.Object({
    data: t.Optional(t.Unknown({ title: 'Data', description: 'JSON: the body of the response.' })),
    status: t.Integer({ title: 'Status', default: 200, minimum: 200, maximum: 599 }),
    headers: t.Optional(t.Unknown({ title: 'Headers', description: 'A list of { key, value }, or an object.' })),
  }),
  modes: { data: 'json' },
  outputs: ['data', 'status', 'headers'],
  mayFail: true,
  run({ data = null, status, headers }) {
    const outputs = { data, status, headers: headersOf(headers) }
    return { outputs, respond: outputs }
  },
})

/** Reads a list of `{ key, value }` or an object. Throws `BlockError` for a header that HTTP does not allow. */
function headersOf(list: unknown): ResponseHeaders {
  const headers: ResponseHeaders = {}
  if (list === null || list === undefined) return headers
  /** The first spelling of each name, by the name in lower case. */
  const spellings = new Map<string, string>()
  for (const [name, value] of pairsOf(list)) {
    if (name === '') continue
    const text = asText(value)
    try {
      new Headers([[name, text]])
    } catch {
      throw new BlockError(
        'INVALID_HEADER',
        `HTTP does not allow the response header ${JSON.stringify(name)} with the value ${JSON.stringify(text)}. ` +
          'Use letters, digits and hyphens in names, and no line breaks in values.',
      )
    }
    // A repeated name keeps its first spelling. Its values are joined by commas, except those of Set-Cookie.
    const lowerName = name.toLowerCase()
    const spelling = spellings.get(lowerName)
    const earlier = spelling === undefined ? undefined : headers[spelling]
    if (spelling === undefined || earlier === undefined) {
      spellings.set(lowerName, name)
      headers[name] = text
    } else headers[spelling] = lowerName === 'set-cookie' ? [earlier, text].flat() : `${earlier}, ${text}`
  }
  return headers
}

function pairsOf(list: unknown): [string, unknown][] {
  if (isObject(list)) return Object.entries(list)
  if (Array.isArray(list) && list.every(isObject)) return list.map(({ key, value }) => [asText(key), value])
  throw new BlockError('INVALID_HEADER', 'Headers must be a list of { "key", "value" } or an object.')
}
