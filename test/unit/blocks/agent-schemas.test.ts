import { expect, test } from 'bun:test'
import { agent } from '../../../src/blocks/agent.ts'
import { defaultLimits } from '../../../src/domain/limits.ts'

test('the check finds schemas that no response and no arguments could fit', () => {
  const facts = { limits: defaultLimits, variables: new Set<string>(), priceOf: () => undefined }
  const found = (params: Record<string, unknown>) =>
    agent.check!(params, facts, params).map(({ level, code, path }) => `${level} ${code} ${path}`)
  const tool = { type: 'api', name: 'a', params: { url: 'http://x/' } }
  const good = { type: 'object', properties: { city: { type: 'string' } } }
  expect(found({ responseFormat: good, tools: [{ ...tool, parameters: good }] })).toEqual([])
  const bad = { type: 'object', properties: { city: { type: 'text' } } }
  expect(found({ responseFormat: bad, tools: [{ ...tool, parameters: bad }] })).toEqual([
    'error INVALID_SCHEMA responseFormat.properties.city.type',
    'error INVALID_SCHEMA tools.0.parameters.properties.city.type',
  ])
})
