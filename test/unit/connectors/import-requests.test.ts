import { expect, test } from 'bun:test'
import { importConnector } from '../../../src/connectors/import/import.ts'
import { connectorFaults } from '../../../src/domain/connector/validate.ts'

const limits = { jsonCharsMax: 4_000_000, yamlCharsMax: 1_000_000 }
const run = (document: unknown, more: object = {}) =>
  importConnector(document, { format: undefined, id: undefined, operations: undefined, limits, ...more })

test('a cURL command becomes an operation whose parameters have the values of the command as defaults', () => {
  const command = `curl 'https://api.example.com/v1/items?sort=name&api_key=secret' -H 'Authorization: Bearer secret' -d '{"n": 1}' -H 'X-Version: 2'`
  const { connector, notTaken } = run(command, { id: 'items' })
  expect(connectorFaults(connector)).toEqual([])
  expect(JSON.stringify(connector)).not.toContain('secret')
  expect(connector).toMatchObject({
    ...{ id: 'items', baseUrl: 'https://api.example.com' },
    operations: {
      post_v1_items: {
        ...{ method: 'POST', path: '/v1/items', headers: { 'X-Version': '2' } },
        parameters: {
          properties: { sort: { default: 'name', in: 'query' }, n: { type: 'integer', default: 1, in: 'body' } },
        },
      },
    },
  })
  expect(notTaken.map(({ path }) => path)).toEqual(['-H Authorization', 'curl ?api_key'])
})

test('a HAR file becomes one operation for each method and path of its first origin', () => {
  const entry = (method: string, url: string, more: object = {}) => ({ request: { method, url, headers: [], ...more } })
  const { connector, notTaken } = run({
    log: {
      entries: [
        entry('GET', 'https://app.example/api/a?x=1', {
          headers: [{ name: 'Cookie', value: 'sid=secret' }],
          cookies: [{}],
        }),
        entry('GET', 'https://app.example/api/a?x=2'),
        entry('POST', 'https://app.example/api/b', { postData: { text: '{"y":true}' } }),
        entry('GET', 'https://other.example/c'),
        entry('OPTIONS', 'https://app.example/api/b'),
      ],
    },
  })
  expect(connectorFaults(connector)).toEqual([])
  expect(Object.keys(connector.operations)).toEqual(['get_api_a', 'post_api_b'])
  expect(JSON.stringify(connector)).not.toContain('secret')
  expect(notTaken).toHaveLength(5)
})
