import { describe, expect, test } from 'bun:test'
import { importConnector } from '../../../src/connectors/import/import.ts'
import { connectorFaults } from '../../../src/domain/connector/validate.ts'

const limits = { jsonCharsMax: 4_000_000, yamlCharsMax: 1_000_000 }
const run = (document: unknown, more: object = {}) =>
  importConnector(document, { format: undefined, id: undefined, operations: undefined, limits, ...more })

function failure(document: unknown, more: object = {}): string {
  try {
    run(document, more)
    return 'none'
  } catch (error) {
    return (error as Error).message
  }
}

/** A document with the features of real ones: references, compositions, forms, several media types and schemes. */
const openapi3 = {
  openapi: '3.0.3',
  info: { title: 'Pet Shop', description: 'Pets.' },
  servers: [
    { url: 'https://{region}.pets.example/v1/', variables: { region: { default: 'eu' } } },
    { url: 'https://x' },
  ],
  paths: {
    '/pets/{petId}': {
      parameters: [{ $ref: '#/components/parameters/PetId' }],
      get: { operationId: 'getPet', summary: 'Get a pet', responses: {} },
      head: {},
      put: {
        operationId: 'putPet',
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } }, 'application/xml': {} },
        },
      },
    },
    '/pets': {
      get: {
        parameters: [
          { name: 'tags', in: 'query', explode: false, schema: { type: 'array', items: { type: 'string' } } },
          { name: 'X-Trace', in: 'header', schema: { type: 'string' } },
          { name: 'sid', in: 'cookie', schema: { type: 'string' } },
        ],
      },
      post: {
        requestBody: {
          content: {
            'multipart/form-data': {
              schema: { type: 'object', properties: { file: { type: 'string', format: 'binary' } } },
            },
          },
        },
      },
    },
    '/tree': {
      post: { requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Node' } } } } },
    },
    '/bulk': {
      post: {
        requestBody: { content: { 'application/json': { schema: { type: 'array', items: { type: 'integer' } } } } },
      },
    },
  },
  components: {
    parameters: { PetId: { name: 'petId', in: 'path', required: true, schema: { type: 'integer' } } },
    schemas: {
      Base: { type: 'object', required: ['name'], properties: { name: { type: 'string', maxLength: 50 } } },
      Pet: {
        allOf: [
          { $ref: '#/components/schemas/Base' },
          {
            type: 'object',
            properties: {
              id: { type: 'integer', readOnly: true },
              kind: { type: 'string', enum: ['cat', 'dog'], nullable: true },
              owner: { oneOf: [{ type: 'string' }, { type: 'integer' }] },
            },
          },
        ],
      },
      Node: { type: 'object', properties: { value: { type: 'string' }, next: { $ref: '#/components/schemas/Node' } } },
    },
    securitySchemes: {
      token: { type: 'http', scheme: 'bearer' },
      key: { type: 'apiKey', in: 'header', name: 'X-Key' },
      session: { type: 'apiKey', in: 'cookie', name: 'sid' },
      login: {
        type: 'oauth2',
        flows: {
          authorizationCode: { authorizationUrl: 'https://a/x', tokenUrl: 'https://a/t', scopes: { read: '' } },
        },
      },
    },
  },
}

describe('an OpenAPI 3 document', () => {
  test('becomes a valid connector', () => {
    const { connector, notTaken } = run(openapi3)
    expect(connectorFaults(connector)).toEqual([])
    expect(connector).toMatchObject({ id: 'pet-shop', name: 'Pet Shop', baseUrl: 'https://eu.pets.example/v1' })
    expect(Object.keys(connector.operations)).toEqual([
      'getPet',
      'putPet',
      'get_pets',
      'post_pets',
      'post_tree',
      'post_bulk',
    ])
    expect(connector.operations['putPet']).toMatchObject({
      ...{ label: 'Put pet', method: 'PUT', path: '/pets/{petId}', body: 'json' },
      parameters: {
        properties: {
          petId: { type: 'integer', in: 'path' },
          name: { type: 'string', maxLength: 50, in: 'body' },
          kind: { enum: ['cat', 'dog'], in: 'body' },
        },
        required: ['petId', 'name'],
      },
    })
    expect(connector.operations['putPet']!.parameters!.properties).not.toHaveProperty('id')
    expect(connector.operations['get_pets']!.parameters!.properties).toMatchObject({
      ...{ tags: { type: 'array', join: ',', in: 'query' }, 'X-Trace': { in: 'header' } },
    })
    expect(connector.operations['post_bulk']).toMatchObject({ bodyTemplate: { $param: 'body' } })
    expect(connector.operations['post_pets']!.body).toBe('multipart')
    expect(connector.credentials?.map(({ kind }) => kind)).toEqual(['bearer', 'header', 'oauth2_authorization_code'])
    expect(notTaken.map(({ path }) => path).toSorted()).toEqual([
      'paths./pets.get.parameters.2',
      'paths./pets/{petId}.head',
      'paths./pets/{petId}.put.requestBody.application/xml',
      'paths./pets/{petId}.put.requestBody.owner',
      'securitySchemes.session',
      'servers',
    ])
  })

  test('is the same as YAML, and only the chosen operations are taken', () => {
    const yaml =
      'openapi: 3.1.0\ninfo: {title: Tea}\npaths:\n  /tea:\n    get: {operationId: list, parameters: [{name: n, in: query, schema: {type: [integer, "null"]}}]}\n    post: {operationId: brew}\n'
    const { connector } = run(yaml, {
      source: 'https://tea.example/docs/openapi.yaml',
      operations: ['list'],
      id: 'tea',
    })
    expect(connector).toMatchObject({ id: 'tea', baseUrl: 'https://tea.example' })
    expect(Object.keys(connector.operations)).toEqual(['list'])
    expect(connector.operations['list']!.parameters!.properties['n']).toMatchObject({ type: 'integer' })
    expect(failure(yaml, { operations: ['drink'] })).toContain('none of these operations')
  })

  test('may refer to itself without end', () => {
    const { connector } = run(openapi3, { operations: ['post_tree'] })
    expect(connectorFaults(connector)).toEqual([])
  })

  test('whose schemas multiply is cut, and says so', () => {
    const schemas: Record<string, unknown> = { L0: { type: 'string' } }
    for (let level = 1; level < 11; level += 1) {
      const of = { $ref: `#/components/schemas/L${level - 1}` }
      schemas[`L${level}`] = {
        type: 'object',
        properties: Object.fromEntries([...'abcdefghij'].map((name) => [name, of])),
      }
    }
    const paths = {
      '/x': {
        post: { requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/L10' } } } } },
      },
    }
    const { connector, notTaken } = run({ openapi: '3.0.0', info: {}, paths, components: { schemas } })
    expect(connectorFaults(connector)).toEqual([])
    expect(notTaken.map(({ reason }) => reason)).toContainEqual(expect.stringContaining('The schemas are too large'))
  })
})

test('a Swagger 2 document has its host, its forms and its bodies', () => {
  const { connector, notTaken } = run({
    swagger: '2.0',
    info: { title: 'Old API' },
    ...{ host: 'old.example', basePath: '/api', schemes: ['http', 'https'] },
    securityDefinitions: {
      basic: { type: 'basic' },
      app: { type: 'oauth2', flow: 'application', tokenUrl: 'https://t', scopes: {} },
    },
    paths: {
      '/files': {
        post: {
          operationId: 'upload',
          consumes: ['multipart/form-data'],
          parameters: [
            { name: 'file', in: 'formData', type: 'file', required: true },
            { name: 'note', in: 'formData', type: 'string' },
          ],
        },
      },
      '/items': {
        get: { parameters: [{ name: 'ids', in: 'query', type: 'array', items: { type: 'integer' } }] },
        post: { parameters: [{ name: 'body', in: 'body', required: true, schema: { $ref: '#/definitions/Item' } }] },
      },
    },
    definitions: { Item: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } } },
  })
  expect(connectorFaults(connector)).toEqual([])
  expect(connector).toMatchObject({ baseUrl: 'https://old.example/api' })
  expect(connector.operations['upload']).toMatchObject({ body: 'multipart', parameters: { required: ['file'] } })
  expect(connector.operations['get_items']!.parameters!.properties['ids']).toMatchObject({ join: ',', in: 'query' })
  expect(connector.operations['post_items']).toMatchObject({ body: 'json', parameters: { required: ['name'] } })
  expect(connector.credentials?.map(({ kind }) => kind)).toEqual(['basic', 'oauth2_client_credentials'])
  expect(notTaken).toEqual([])
})

test('a Discovery document becomes operations with pages and Google sign-in', () => {
  const { connector, notTaken } = run({
    ...{ kind: 'discovery#restDescription', discoveryVersion: 'v1', name: 'tasks', title: 'Google Tasks API' },
    ...{ rootUrl: 'https://tasks.googleapis.com/', servicePath: '' },
    auth: { oauth2: { scopes: { 'https://www.googleapis.com/auth/tasks': {} } } },
    schemas: {
      Task: { type: 'object', properties: { title: { type: 'string' } } },
      Tasks: {
        type: 'object',
        properties: { items: { type: 'array', items: { $ref: 'Task' } }, nextPageToken: { type: 'string' } },
      },
    },
    resources: {
      tasks: {
        methods: {
          list: {
            ...{
              id: 'tasks.tasks.list',
              path: 'v1/lists/{tasklist}/tasks',
              httpMethod: 'GET',
              response: { $ref: 'Tasks' },
            },
            description: 'Returns all tasks. And more.',
            parameters: {
              tasklist: { type: 'string', location: 'path', required: true },
              pageToken: { type: 'string', location: 'query' },
            },
          },
          insert: {
            ...{
              id: 'tasks.tasks.insert',
              path: 'v1/{+parent}/tasks',
              flatPath: 'v1/lists/{listsId}/tasks',
              httpMethod: 'POST',
            },
            ...{ request: { $ref: 'Task' }, supportsMediaUpload: true },
          },
        },
      },
    },
  })
  expect(connectorFaults(connector)).toEqual([])
  expect(connector).toMatchObject({ id: 'tasks', baseUrl: 'https://tasks.googleapis.com' })
  expect(connector.operations['tasks.list']).toMatchObject({
    ...{ label: 'Returns all tasks', path: '/v1/lists/{tasklist}/tasks' },
    pagination: { type: 'cursor', cursor: 'nextPageToken', param: 'pageToken', items: 'items' },
  })
  expect(connector.operations['tasks.insert']).toMatchObject({
    path: '/v1/lists/{listsId}/tasks',
    parameters: { required: ['listsId'] },
  })
  expect(notTaken).toEqual([{ path: 'resources.tasks.methods.insert', reason: 'The upload of media is not taken.' }])
})

test('anything else is refused with the reason', () => {
  expect(failure('{')).toContain('cannot be read as JSON')
  expect(failure('a: [')).toContain('cannot be read as YAML')
  expect(failure({})).toContain('is not an OpenAPI')
  expect(failure({ openapi: '3.0.0' })).toContain('no paths')
  expect(failure('x'.repeat(limits.yamlCharsMax + 1))).toContain('can be imported')
  const bomb = ['openapi: 3.0.0', 'a0: &a0 [x,x,x,x,x,x,x,x,x,x]']
  for (let level = 1; level < 10; level += 1) {
    bomb.push(`a${level}: &a${level} [${Array.from({ length: 10 }, () => `*a${level - 1}`).join(',')}]`)
  }
  expect(failure(bomb.join('\n'))).toMatch(/more than|Excessive aliasing/)
})
