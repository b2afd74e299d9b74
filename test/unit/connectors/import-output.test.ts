import { expect, test } from 'bun:test'
import { importConnector } from '../../../src/connectors/import/import.ts'

function outputsOf(document: object) {
  const limits = { jsonCharsMax: 4_000_000, yamlCharsMax: 1_000_000 }
  const { connector } = importConnector(document, { format: undefined, id: undefined, operations: undefined, limits })
  return Object.fromEntries(Object.entries(connector.operations).map(([name, { output }]) => [name, output]))
}

const get = (operationId: string, schema: unknown, status = '200') => ({
  get: { operationId, responses: { [status]: { content: { 'application/json': { schema } } } } },
})

test('an imported operation keeps the outline of its result', () => {
  const outputs = outputsOf({
    ...{ openapi: '3.1.0', info: {}, servers: [{ url: 'https://a.example' }] },
    paths: {
      '/pets': get('listPets', { type: 'array', items: { $ref: '#/components/schemas/Pet' } }),
      '/tree': get('getTree', { $ref: '#/components/schemas/Node' }, '201'),
      '/either': get('getEither', { oneOf: [{ type: 'null' }, { type: 'integer', minimum: 3 }] }),
      '/none': { get: { operationId: 'getNone', responses: { 204: {} } } },
      '/text': { get: { operationId: 'getText', responses: { 200: { content: { 'text/plain': {} } } } } },
    },
    components: {
      schemas: {
        Named: { type: 'object', properties: { name: { type: ['null', 'string'], maxLength: 9, description: 'x' } } },
        Pet: {
          allOf: [
            { $ref: '#/components/schemas/Named' },
            { properties: { born: { type: 'string', format: 'date-time' } } },
          ],
        },
        Node: { type: 'object', properties: { next: { $ref: '#/components/schemas/Node' } } },
      },
    },
  })
  const node = (next: object) => ({ type: 'object', properties: { next } })
  expect(outputs).toEqual({
    listPets: {
      type: 'array',
      items: {
        type: 'object',
        properties: { name: { type: 'string' }, born: { type: 'string', format: 'date-time' } },
      },
    },
    getTree: node(node(node({ type: 'object' }))),
    getEither: { type: 'integer' },
    getNone: undefined,
    getText: undefined,
  })
})

test('a Swagger document describes results, too', () => {
  const outputs = outputsOf({
    ...{ swagger: '2.0', info: {}, host: 'a.example' },
    paths: { '/n': { get: { operationId: 'count', responses: { 200: { schema: { type: 'integer' } } } } } },
  })
  expect(outputs).toEqual({ count: { type: 'integer' } })
})
