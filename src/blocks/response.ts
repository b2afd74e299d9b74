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
    headers: t.Optional(t.Unknown({ title: 'Headers', description: 'A key/value list.' })),
  }),
  modes: { data: 'json' },
  outputs: ['data', 'status', 'headers'],
  mayFail: true,
  run({ data = null, status, headers }) {
    const outputs = { data, status, headers: headersOf(headers) }
    return { outputs, respond: outputs }
  },
})

/** Reads a key/value list or an object. Throws `BlockError` for headers that are invalid in HTTP. */
function headersOf(given: unknown): ResponseHeaders {
  const headers: ResponseHeaders = {}
  if (given === null || given === undefined) return headers
  const written = new Map<string, string>()
  for (const [name, value] of pairsOf(given)) {
    if (name === '') continue
    const text = asText(value)
    try {
      new Headers([[name, text]])
    } catch {
      throw new BlockError(
        'INVALID_HEADER',
        `The header ${JSON.stringify(name)} with the value ${JSON.stringify(text)} is not valid in HTTP.`,
      )
    }
    // A repeated name keeps its first spelling, and its values are joined by the rules of HTTP.
    const lower = name.toLowerCase()
    const known = written.get(lower)
    const before = known === undefined ? undefined : headers[known]
    if (known === undefined || before === undefined) {
      written.set(lower, name)
      headers[name] = text
    } else headers[known] = lower === 'set-cookie' ? [before, text].flat() : `${before}, ${text}`
  }
  return headers
}

function pairsOf(given: unknown): [string, unknown][] {
  if (isObject(given)) return Object.entries(given)
  if (Array.isArray(given) && given.every(isObject)) return given.map(({ key, value }) => [asText(key), value])
  throw new BlockError('INVALID_HEADER', 'The headers must be a list of { "key", "value" }.')
}
