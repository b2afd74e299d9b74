import type { Attack } from './attacks.ts'
import type { Target } from './target.ts'

/** Connectors and documents to import whose size lies in what they refer to, not in their bytes. */
export function connectorAttacks({ url, apiKey, workspaceId }: Target): Attack[] {
  const base = `${url}/api/workspaces/${workspaceId}/connectors`
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' }
  const put = (document: object) => ({
    ...{ url: `${base}/hostile`, method: 'PUT', headers },
    bytes: Buffer.from(JSON.stringify({ id: 'hostile', name: 'Hostile', baseUrl: 'https://x.example', ...document })),
  })
  const imported = (document: unknown) => ({
    ...{ url: `${base}/import`, method: 'POST', headers },
    bytes: Buffer.from(JSON.stringify({ document, preview: true })),
  })
  return [
    { name: 'a connector with many faults', requests: [put({ operations: faultyOperations() })] },
    { name: 'a connector with a deep schema', requests: [put({ operations: { deep: deepOperation(150) } })] },
    { name: 'an import whose schemas multiply', requests: [imported(multiplyingSchemas())] },
    { name: 'an import of nested YAML aliases', requests: [imported(yamlBomb())] },
    {
      name: 'an import of a large YAML list',
      requests: [imported(`openapi: 3.0.0\nx:\n${'  - [a, b, c]\n'.repeat(70_000)}`)],
    },
    {
      name: 'an import of an endless cURL command',
      requests: [imported(`curl ${"-H 'a: b' ".repeat(15_000)} http://x.example`)],
    },
  ]
}

function faultyOperations(): object {
  const properties = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`p${at}`, { $ref: '#' }]))
  const operation = { label: 'x', method: 'GET', path: 'x', parameters: { properties } }
  return Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`o ${at}`, operation]))
}

function deepOperation(levels: number): object {
  let schema: object = { type: 'string' }
  for (let level = 0; level < levels; level += 1) schema = { type: 'object', properties: { a: schema } }
  return { label: 'Deep', method: 'POST', path: '/', parameters: schema }
}

function multiplyingSchemas(): object {
  const schemas: Record<string, unknown> = { L0: { type: 'string' } }
  for (let level = 1; level < 12; level += 1) {
    const members = Array.from({ length: 20 }, (_, at) => [`m${at}`, { $ref: `#/components/schemas/L${level - 1}` }])
    schemas[`L${level}`] = { type: 'object', properties: Object.fromEntries(members) }
  }
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/L11' } } }
  const paths = Object.fromEntries(
    Array.from({ length: 200 }, (_, at) => [`/p${at}`, { post: { requestBody: { content } } }]),
  )
  return {
    openapi: '3.0.0',
    info: { title: 'Hostile' },
    servers: [{ url: 'https://x.example' }],
    paths,
    components: { schemas },
  }
}

function yamlBomb(): string {
  const lines = ['openapi: 3.0.0', 'a0: &a0 [x,x,x,x,x,x,x,x,x,x]']
  for (let level = 1; level < 12; level += 1) {
    lines.push(`a${level}: &a${level} [${Array.from({ length: 10 }, () => `*a${level - 1}`).join(',')}]`)
  }
  return lines.join('\n')
}
