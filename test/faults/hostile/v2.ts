import type { Attack, AttackRequest } from './attacks.ts'
import { admittedBodies, sent, valueBombs } from './bodies.ts'
import type { Target } from './target.ts'

const MB = 1024 * 1024

/** Requests at the runs and the log of `/api/v2`. */
export function attacksOnV2(target: Target, isShort: boolean): Attack[] {
  const { url, apiKey, workspaceId, ordinary, anyEndpoint, filesEndpoint, large } = target
  const key = { 'x-api-key': apiKey }
  const json = { ...key, 'content-type': 'application/json' }
  const v2 = (endpoint: string) => endpoint.replace('/api/workflows/', '/api/v2/workflows/')
  const post = (to: string, body: string, headers: Record<string, string> = {}): AttackRequest => ({
    ...{ url: to, method: 'POST', headers: { ...json, ...headers }, bytes: Buffer.from(body) },
  })
  const get = (path: string): AttackRequest => ({ url: `${url}${path}`, method: 'GET', headers: key })
  const execute = v2(anyEndpoint)
  const runs = execute.replace(/\/execute$/, '/runs').slice(url.length)
  const logs = `/api/v2/logs?workspaceId=${workspaceId}`
  const few = isShort ? 200 : 2_000
  const four = (name: string, request: AttackRequest): Attack => ({
    name: `v2 ${name}, 4 at once`,
    requests: Array(4).fill(request) as AttackRequest[],
  })
  return [
    ...valueBombs().map((plain) => {
      const { headers, bytes } = sent(plain, 'zstd')
      return four(`execute: ${plain.name}`, { url: execute, method: 'POST', headers: { ...key, ...headers }, bytes })
    }),
    ...admittedBodies({ values: 200_000, bytes: 10 * MB }).flatMap(({ name, bytes }) => {
      const input = `{"input":${bytes}`
      const body = (rest: string) => `${input}${rest}}`
      return [
        four(`execute: ${name}`, post(execute, body(''))),
        four(`asynchronous: ${name}`, post(v2(ordinary), body(',"async":true'))),
      ]
    }),
    four('execute: unknown members', post(execute, `{${names(150_000)}}`)),
    four('execute with files: unknown members', post(v2(filesEndpoint), `{${names(150_000)}}`)),
    four('execute: selected outputs', post(execute, `{"selectedOutputs":[${'"a.b",'.repeat(150_000)}"a.b"]}`)),
    ...Object.entries(large).map(([name, endpoint]) => four(`large: ${name}`, post(v2(endpoint), '{}'))),
    {
      name: 'v2 run ID: one ID in many requests at once',
      requests: Array.from({ length: few / 10 }, () => post(execute, '{}', { 'x-run-id': 'contested' })),
    },
    {
      name: 'v2 run ID: many IDs',
      requests: Array.from({ length: few }, () => post(execute, '{}', { 'x-run-id': crypto.randomUUID() })),
      atOnce: 50,
    },
    {
      name: 'v2 run ID: texts that are no IDs',
      requests: ['.', '..', '../../etc', 'a/b', "a'b", 'a"b', '%2e%2e', '-', 'x'.repeat(4_000), 'a:b', '$1', 'ä'].map(
        (id) => post(execute, '{}', { 'x-run-id': encodeURI(id) }),
      ),
    },
    {
      name: 'v2 runs: paths and parameters that do not fit',
      requests: [
        ...['..', '%2e%2e', '%00', '%ff', 'x'.repeat(4_000), "' OR 1=1 --"].flatMap((id) => [
          get(`${runs}/${encodeURIComponent(id)}`),
          get(`/api/v2/logs/${encodeURIComponent(id)}`),
          post(`${url}${runs}/${encodeURIComponent(id)}/resume`, '{"contextId":"x"}'),
          post(`${url}${runs}/${encodeURIComponent(id)}/cancel`, ''),
        ]),
        ...['limit=-1', 'limit=1e9', 'status=x', 'startDate=9e99', 'cursor=AAAA', `trigger=${'x'.repeat(4_000)}`].map(
          (query) => get(`${runs}?${query}`),
        ),
        get(`${logs}&workflowIds=${'x,'.repeat(3_000)}x`),
        get(`${logs}&folderPaths=${'/,'.repeat(3_000)}x`),
        get(`${logs}&triggers=${'x,'.repeat(3_000)}x`),
      ],
    },
    {
      name: 'v2 resume: bodies that do not fit',
      requests: [
        '',
        'null',
        '[]',
        '{',
        '{"contextId":{}}',
        '{"contextId":"__proto__","input":[]}',
        `{${names(150_000)}}`,
      ].map((body) => post(`${url}${runs}/nothing/resume`, body)),
    },
    four('logs: everything', get(`${logs}&limit=1000&includeTraceSpans=true&includeFinalOutput=true`)),
  ]
}

function names(count: number): string {
  return Array.from({ length: count }, (_, n) => `"m${n}":0`).join()
}
