import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { inputOf, readInput } from '../../../src/domain/run/input.ts'
import type { FieldType, InputField } from '../../../src/domain/workflow/workflow.ts'
import { workflowOpenApi } from '../../../src/http/openapi/workflow-openapi.ts'
import { block, document } from '../../support/make.ts'
import { ExecutionWorld } from './execution-world.ts'
import { findBreaches } from './json-schema.ts'
import { findOpenApiFaults } from './openapi-linter.ts'
import type { Parsed } from './world.ts'

let world: ExecutionWorld
beforeAll(async () => {
  world = await ExecutionWorld.open()
})
afterAll(() => world.close())

const everyField: InputField[] = [
  { name: 'city', type: 'string', required: true, description: 'Where', value: 'Porto' },
  { name: 'days', type: 'number', required: true, value: '3' },
  { name: 'metric', type: 'boolean', value: 'yes' },
  { name: 'options', type: 'object', value: '{"wind":true}' },
  { name: 'hours', type: 'array', value: [6, 12] },
  { name: 'maps', type: 'files' },
]

function workflowWith(inputFormat: unknown, more: Parameters<typeof document>[0]['blocks'] = []) {
  return document({
    name: 'Weather',
    blocks: [block('start', 'api_trigger', { inputFormat }), block('f', 'function', { code: 'return 1' }), ...more],
    edges: ['start > f'],
  })
}

function bodyOf(openApi: Parsed): Parsed {
  return (Object.values(openApi.paths)[0] as Parsed).post.requestBody
}

describe('the OpenAPI document of one workflow', () => {
  test('passes the linter for every kind of workflow', async () => {
    const response = block('end', 'response', { data: 1 })
    const off = block('end', 'response', { data: 1 }, { enabled: false })
    for (const draft of [workflowWith(everyField), workflowWith([]), workflowWith(everyField, [response])]) {
      expect(await findOpenApiFaults(workflowOpenApi('w1', draft, 3, 'https://flows.acme.test'))).toEqual([])
    }
    const noTrigger = document({ name: 'None', blocks: [off] })
    expect(await findOpenApiFaults(workflowOpenApi('w1', noTrigger, null, 'http://127.0.0.1:3000'))).toEqual([])
  })

  test('shows the fields with their types, and matching examples', async () => {
    const id = await world.deploy(workflowWith(everyField))
    const { json } = await world.call(`/api/workflows/${id}/openapi.json`)
    const openApi = json as Parsed
    expect(openApi.servers).toEqual([{ url: world.url }])
    expect(openApi.info).toMatchObject({ version: '1' })
    const { schema, example } = bodyOf(openApi).content['application/json']
    expect(schema.required).toEqual(['city', 'days'])
    expect(schema.properties).toMatchObject({
      city: { type: 'string', description: 'Where', examples: ['Porto'] },
      days: { type: 'number', examples: [3] },
      options: { type: 'object', examples: [{ wind: true }] },
      hours: { type: 'array', examples: [[6, 12]] },
      maps: { type: 'array', items: { required: ['type', 'data', 'name'] } },
    })
    // "yes" is not a valid boolean.
    expect(schema.properties.metric).toEqual({ type: 'boolean' })
    expect(example).toEqual({ city: 'Porto', days: 3, options: { wind: true }, hours: [6, 12] })
    expect(bodyOf(openApi).required).toBe(true)
    expect((await world.execute(id, example)).status).toBe(200)
  })

  test('describes asynchronous runs and every error', async () => {
    const id = await world.deploy(workflowWith(everyField))
    const { json } = await world.call(`/api/workflows/${id}/openapi.json`)
    const operation = (json as Parsed).paths[`/api/workflows/${id}/execute`].post
    expect(operation.parameters).toMatchObject([
      { name: 'X-Execution-Mode', in: 'header', required: false },
      { name: 'Idempotency-Key', in: 'header', required: false },
      { name: 'X-Sim-Stream-Protocol', in: 'header', required: false },
      { name: 'traceparent', in: 'header', required: false },
      { name: 'tracestate', in: 'header', required: false },
    ])
    expect(Object.keys(operation.responses)).toEqual([
      '200',
      '202',
      '400',
      '401',
      '402',
      '403',
      '404',
      '409',
      '413',
      '422',
      '429',
      '500',
      '503',
      '504',
    ])
    expect(operation.responses['200'].content['application/json'].schema).toEqual({
      $ref: '#/components/schemas/RunResult',
    })
    expect(operation.security).toEqual([{ apiKey: [] }])
  })

  test('promises no result shape when a response block may respond', () => {
    const openApi = workflowOpenApi('w1', workflowWith([], [block('end', 'response', { data: 1 })]), 1, 'http://x')
    const { responses } = (Object.values(openApi.paths)[0] as Parsed).post
    expect(responses.default.description).toContain('response block')
    expect(responses['200'].content['application/json'].schema).toEqual({})
  })

  test('accepts nothing that the endpoint would refuse', () => {
    const types: FieldType[] = ['string', 'number', 'boolean', 'object', 'array', 'files']
    const name = fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor')
    const field = fc.record({ name, type: fc.constantFrom(...types), required: fc.boolean() })
    const format = fc.uniqueArray(field, { selector: (each) => each.name, maxLength: 4 })
    const value = fc.oneof(
      fc.string(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.object(),
      fc.array(fc.jsonValue()),
    )
    const body = fc.dictionary(name, value, { maxKeys: 4 })
    let taken = 0
    fc.assert(
      fc.property(format, body, (fields, sent) => {
        const { schema } = bodyOf(workflowOpenApi('w1', workflowWith(fields), 1, 'http://x')).content[
          'application/json'
        ]
        if (findBreaches(sent, schema, {}).length > 0) return
        taken += 1
        expect(readInput(inputOf(sent, fields), fields).ok).toBe(true)
      }),
      { numRuns: 500 },
    )
    expect(taken).toBeGreaterThan(50)
  })
})
