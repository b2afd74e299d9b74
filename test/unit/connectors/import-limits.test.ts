import { describe, expect, test } from 'bun:test'
import { importConnector } from '../../../src/connectors/import/import.ts'

const limits = { jsonCharsMax: 4_000_000, yamlCharsMax: 1_000_000 }

function imported(document: unknown, operations?: readonly string[]) {
  return importConnector(document, { format: undefined, id: undefined, operations, limits })
}

describe('what does not fit', () => {
  test('a path parameter keeps its name when a query parameter has the same one', () => {
    const { connector } = imported({
      openapi: '3.1.0',
      info: {},
      servers: [{ url: 'https://a.example' }],
      paths: {
        '/keys/{key}': {
          parameters: [{ name: 'key', in: 'query', required: true, schema: { type: 'string' } }],
          get: { operationId: 'getKey', parameters: [{ name: 'key', in: 'path', schema: { type: 'string' } }] },
        },
      },
    })
    const { properties, required } = connector.operations['getKey']!.parameters!
    expect(properties).toEqual({
      key: { type: 'string', in: 'path' },
      key_query: { type: 'string', in: 'query', name: 'key' },
    })
    expect([...required!].sort()).toEqual(['key', 'key_query'])
  })

  test('parameters beyond the limit are listed, and required ones stay', () => {
    const parameters = Array.from({ length: 250 }, (_, index) => ({
      ...{ name: `p${index}`, in: 'query', schema: { type: 'string' } },
      required: index >= 240,
    }))
    const { connector, notTaken } = imported({
      ...{ openapi: '3.1.0', info: {}, servers: [{ url: 'https://a.example' }] },
      paths: { '/search': { get: { operationId: 'search', parameters } } },
    })
    const kept = Object.keys(connector.operations['search']!.parameters!.properties)
    expect(kept).toHaveLength(200)
    expect(kept).toEqual([
      ...Array.from({ length: 190 }, (_, index) => `p${index}`),
      ...Array.from({ length: 10 }, (_, index) => `p${240 + index}`),
    ])
    expect(notTaken).toEqual([
      { path: 'paths./search.get', reason: 'An operation has at most 200 parameters: 50 are not taken.' },
    ])
  })

  test('operations that do not fit are listed, and the others are imported', () => {
    const description = 'x'.repeat(900)
    const paths = Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [
        `/p${index}`,
        {
          get: {
            operationId: `get${index}`,
            parameters: Array.from({ length: 20 }, (_each, at) => ({
              ...{ name: `p${at}`, in: 'query', schema: { type: 'string' }, description },
            })),
          },
        },
      ]),
    )
    const { connector, notTaken } = imported({
      ...{ openapi: '3.1.0', info: {}, servers: [{ url: 'https://a.example' }], paths },
    })
    const count = Object.keys(connector.operations).length
    expect(count).toBeGreaterThan(40)
    expect(count + notTaken.length).toBe(100)
    expect(notTaken.at(-1)).toEqual({
      path: 'paths./p99.get',
      reason: 'A connector has at most 1048576 bytes of JSON. Choose the operations to import.',
    })
    const one = imported({ openapi: '3.1.0', info: {}, servers: [{ url: 'https://a.example' }], paths }, ['get99'])
    expect(Object.keys(one.connector.operations)).toEqual(['get99'])
  })
})
