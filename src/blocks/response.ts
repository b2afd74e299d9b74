import { Type as t } from '@sinclair/typebox'
import { isObject } from '../domain/input.ts'
import { asText } from '../domain/reference.ts'
import { BlockError, defineBlock } from '../engine/block.ts'

export const response = defineBlock({
  type: 'response',
  label: 'Response',
  description: 'Ends the run and answers its caller.',
  kind: 'step',
  parameters: t.Object({
    data: t.Optional(t.Unknown({ title: 'Data', description: 'JSON: the body of the answer.' })),
    status: t.Integer({ title: 'Status', default: 200, minimum: 200, maximum: 599 }),
    headers: t.Optional(t.Unknown({ title: 'Headers', description: 'Key/value list.' })),
  }),
  modes: { data: 'json' },
  outputs: ['data', 'status', 'headers'],
  mayFail: true,
  run({ data = null, status, headers }) {
    const outputs = { data, status, headers: headersOf(headers) }
    return { outputs, respond: outputs }
  },
})

/** A key/value list or an object. Fails the block for what HTTP cannot carry. */
function headersOf(given: unknown): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of pairsOf(given)) {
    if (name === '') continue
    const text = asText(value)
    try {
      new Headers([[name, text]])
    } catch {
      throw new BlockError(
        'INVALID_HEADER',
        `The header ${JSON.stringify(name)} with the value ${JSON.stringify(text)} is not possible in HTTP.`,
      )
    }
    headers[name] = text
  }
  return headers
}

function pairsOf(given: unknown): [string, unknown][] {
  if (given === null || given === undefined) return []
  if (isObject(given)) return Object.entries(given)
  if (Array.isArray(given) && given.every(isObject)) return given.map(({ key, value }) => [asText(key), value])
  throw new BlockError('INVALID_HEADER', 'The headers must be a list of { "key", "value" }.')
}
