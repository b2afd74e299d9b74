import { jsonValuesMax, responseBytesMax } from '../../../src/domain/limits.ts'
import { block, type document } from '../../support/make.ts'
import type { Attack } from './attacks.ts'
import { admittedBodies } from './bodies.ts'
import type { Target } from './target.ts'

/** A little less than a run may read. */
const valuesAtMost = jsonValuesMax - 100

/** Functions whose results are as large as they may be. */
const functions: Readonly<Record<string, string>> = {
  numbers: `return Array(${valuesAtMost}).fill(0.1234567890123456)`,
  objects: `return Array.from({ length: ${Math.floor(valuesAtMost / 2)} }, () => ({ a: 1 }))`,
  members: `const o = {}; for (let i = 0; i < ${valuesAtMost}; i++) o['k' + i] = 0; return o`,
  text: `return 'x'.repeat(${8 * 1024 * 1024})`,
  quotes: `return '"'.repeat(${4 * 1024 * 1024})`,
}

type Document = Parameters<typeof document>[0]

/** Deploys workflows that produce large values without a large request. Returns their endpoints by name. */
export async function deployLargeValues(
  make: (blocks: Document['blocks'], edges: string[], name: string) => Promise<string>,
  upstream: string,
): Promise<Record<string, string>> {
  const start = block('start', 'api_trigger', {})
  const reply = block('reply', 'response', { data: { text: 'Hello' } })
  const endpoints: Record<string, string> = {}
  for (const [index, { name }] of upstreamBodies().entries()) {
    const api = block('api', 'api', { url: `${upstream}/${index}` })
    endpoints[`api: ${name}`] = await make([start, api, reply], ['start > api', 'api > reply'], `api ${index}`)
  }
  for (const [name, code] of Object.entries(functions)) {
    const made = block('made', 'function', { code })
    endpoints[`output: ${name}`] = await make([start, made], ['start > made'], `output ${name}`)
    const read = block('read', 'function', { code: 'const value = <made.result>; return typeof value' })
    const edges = ['start > made', 'made > read', 'read > reply']
    endpoints[`function: ${name}`] = await make([start, made, read, reply], edges, `function ${name}`)
  }
  return endpoints
}

/** Runs with large values: of other services, of user code, in responses and in streams. */
export function largeValueAttacks({ large, anyEndpoint, apiKey, cookie, url }: Target): Attack[] {
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' }
  const session = { cookie, origin: url, 'content-type': 'application/json' }
  const four = (name: string, to: string, text: string, more: Record<string, string> = {}): Attack => ({
    name: `${name}, 4 at once`,
    requests: Array(4).fill({ url: to, headers: { ...headers, ...more }, bytes: Buffer.from(text) }),
  })
  const attacks: Attack[] = []
  for (const [name, endpoint] of Object.entries(large)) {
    attacks.push(four(`large ${name}`, endpoint, '{}'))
    if (!name.startsWith('output')) continue
    attacks.push(four(`large stream ${name}`, endpoint, '{"stream":true,"selectedOutputs":["made.result"]}'))
    const manual = endpoint.replace('/api/workflows', '/api/editor/workflows').replace('/execute', '/runs')
    const then = (response: string) => ({ url: `${url}${(JSON.parse(response) as Started).eventsUrl}`, method: 'GET' })
    const request = { url: manual, headers: session, bytes: Buffer.from('{}'), then }
    attacks.push({ name: `large manual ${name}, 4 at once`, requests: Array(4).fill(request) })
  }
  for (const part of ['%25', '%D0%BF', '%', '&', '\\']) {
    const text = JSON.stringify({ text: part.repeat((8 * 1024 * 1024) / (JSON.stringify(part).length - 2)) })
    attacks.push(four(`symbols: a long text of ${part}`, anyEndpoint, text))
  }
  // These go on after their responses, so they are the last ones.
  const later = { 'x-execution-mode': 'async' }
  for (const name of ['api: as many members as allowed', 'output: text']) {
    attacks.push(four(`large asynchronous ${name}`, large[name] ?? '', '{}', later))
  }
  return attacks
}

type Started = { eventsUrl: string }

/** The bodies of `upstream.ts`. */
export function upstreamBodies() {
  return admittedBodies({ values: valuesAtMost, bytes: responseBytesMax })
}
