import { block, document } from '../../support/make.ts'
import { call } from '../../support/running-service.ts'
import type { Attack, AttackRequest } from './attacks.ts'
import type { Target } from './target.ts'

const MB = 1024 * 1024

/** Requests that read large values which are stored: GET, or POST with `body`. */
export type StoredValues = Readonly<Record<string, { path: string; body?: string }>>

type Account = { url: string; apiKey: string; cookie: string; workspaceId: string }

/** Stores values that take long to show: pinned outputs, a test request, and the trace of a run. */
export async function storeLargeValues(account: Account): Promise<StoredValues> {
  return {
    ...(await pinnedOutputs(account)),
    ...(await takenRequest(account)),
    ...(await longTrace(account)),
  }
}

/** Each of them by four readers at once. */
export function storedValueAttacks({ stored, url, cookie, apiKey }: Target): Attack[] {
  // Routes of the dashboard ignore the key, those of version 2 the session.
  const headers = { cookie, 'x-api-key': apiKey, origin: url, 'content-type': 'application/json' }
  return Object.entries(stored).map(([name, { path, body }]) => {
    const reading = { url: url + path, method: body === undefined ? 'GET' : 'POST', headers }
    const request: AttackRequest = body === undefined ? reading : { ...reading, bytes: Buffer.from(body) }
    return { name: `stored ${name}, 4 at once`, requests: Array(4).fill(request) as AttackRequest[] }
  })
}

async function pinnedOutputs({ url, apiKey }: Account): Promise<StoredValues> {
  const found: Record<string, { path: string }> = {}
  const outputs = {
    symbols: { result: '%D0%BF'.repeat(MB / 6 - 100) },
    members: Object.fromEntries(Array.from({ length: 95_000 }, (_, n) => [`k${n}`, 0])),
  }
  const blocks = Array.from({ length: 10 }, (_, n) => block(`f${n}`, 'function', { code: 'return 1' }))
  const edges = blocks.map((_, n) => (n === 0 ? 'start > f0' : `f${n - 1} > f${n}`))
  for (const [name, output] of Object.entries(outputs)) {
    const all = [block('start', 'api_trigger', {}), ...blocks]
    const draft = await created(url, apiKey, document({ name: `pins ${name}`, blocks: all, edges }))
    const path = `/api/workflows/${draft}/pins`
    for (const { id } of blocks) await call(`${url}${path}/${id}`, apiKey, 'PUT', { output })
    found[`pins: ${name}`] = { path }
  }
  return found
}

async function takenRequest({ url, apiKey, cookie }: Account): Promise<StoredValues> {
  const authentication = { type: 'bearer', token: 'a-long-token-of-the-sender' }
  const hook = block('hook', 'webhook_trigger', { path: 'draft', respond: 'immediately', authentication })
  const draft = await created(url, apiKey, document({ name: 'listening', blocks: [hook], edges: [] }))
  const listen = `/api/editor/workflows/${draft}/listen`
  const opened = await fetch(url + listen, { method: 'POST', headers: { cookie, origin: url } })
  const { token, url: address } = (await opened.json()) as { token: string; url: string }
  const headers = { authorization: `Bearer ${authentication.token}`, 'content-type': 'application/json' }
  await fetch(address, { method: 'POST', headers, body: JSON.stringify({ text: '%D0%BF'.repeat(1.6 * MB) }) })
  return { 'test request: symbols': { path: `${listen}/${token}` } }
}

/** A trace of about 30 MB. */
async function longTrace({ url, apiKey, workspaceId }: Account): Promise<StoredValues> {
  const assign = (n: number) => [{ name: 'v', value: `${n}<start.input.a>` }]
  const blocks = Array.from({ length: 60 }, (_, n) => block(`v${n}`, 'variables', { assign: assign(n) }))
  const edges = blocks.map((_, n) => (n === 0 ? 'start > v0' : `v${n - 1} > v${n}`))
  const all = [block('start', 'api_trigger', {}), ...blocks]
  const id = await created(url, apiKey, {
    ...document({ name: 'long trace', blocks: all, edges }),
    variables: { v: { value: '' } },
  })
  await call(`${url}/api/workflows/${id}/deploy`, apiKey, 'POST')
  const a = '%25'.repeat(80_000)
  const { headers } = await call(`${url}/api/workflows/${id}/execute`, apiKey, 'POST', { a })
  const executionId = headers.get('x-execution-id')
  const log = `/api/editor/logs?workspaceId=${workspaceId}`
  const again = JSON.stringify({ again: { executionId } })
  return {
    'trace: run again': { path: `/api/editor/workflows/${id}/runs`, body: again },
    'trace: run in version 2': { path: `/api/v2/workflows/${id}/runs/${executionId}?includeOutput=true` },
    'trace: outputs in version 2': { path: `/api/v2/workflows/${id}/runs/${executionId}?selectedOutputs=v0.v` },
    'trace: log in version 2': { path: `/api/v2/logs/${executionId}` },
    'trace: log page in version 2': { path: `/api/v2/logs?workspaceId=${workspaceId}&includeTraceSpans=true&limit=5` },
    'trace: log page': { path: `${log}&details=full&includeTraceSpans=true&limit=5` },
  }
}

async function created(url: string, apiKey: string, draft: unknown): Promise<string> {
  const { status, body } = await call(`${url}/api/workflows`, apiKey, 'POST', draft)
  if (status !== 201) throw new Error(`The workflow was not created: ${JSON.stringify(body)}`)
  return (body as { id: string }).id
}
