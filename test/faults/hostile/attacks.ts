import { assistantAttacks } from './assistant.ts'
import { mcpServerAttacks } from './bad-mcp-server.ts'
import { admittedBodies, compressions, type PlainBody, type SentBody, sent, valueBombs } from './bodies.ts'
import { connectorAttacks } from './connectors.ts'
import { worstDocuments } from './documents.ts'
import { entryAttacks } from './entries/entry-attacks.ts'
import { formAttacks } from './forms.ts'
import { guardrailAttacks } from './guardrails.ts'
import { importAttacks } from './imports.ts'
import { largeValueAttacks } from './large-values.ts'
import { mcpAttacks } from './mcp.ts'
import { oauthAttacks } from './oauth.ts'
import { pauseAttacks } from './pauses.ts'
import { simAttacks } from './sim.ts'
import { storedValueAttacks } from './stored-values.ts'
import type { Target } from './target.ts'
import { traceAttacks } from './traces.ts'
import { attacksOnV2 } from './v2.ts'

const MB = 1024 * 1024

/** One request of an attacker. */
export type AttackRequest = {
  url: string
  method?: string
  headers: Record<string, string>
  bytes?: Buffer<ArrayBuffer>
  /** The request that follows a response. */
  then?(response: string): Pick<AttackRequest, 'url' | 'method'>
}

/** Sends requests in parallel, at most `atOnce`, and repeats this `times` times. */
export type Attack = { name: string; requests: readonly AttackRequest[]; times?: number; atOnce?: number }

/** Every attack. `isShort` leaves out most combinations of a body and a compression. */
export function attacksOn(target: Target, isShort: boolean): Attack[] {
  return [
    ...bodyAttacks(target, isShort),
    ...admittedAttacks(target),
    ...listAttacks(target),
    ...documentAttacks(target),
    ...expressionAttacks(target),
    ...responseAttacks(target),
    manyVisitors(target),
    ...storedValueAttacks(target),
    ...largeValueAttacks(target),
    ...connectorAttacks(target),
    ...entryAttacks(target),
    ...importAttacks(target),
    ...guardrailAttacks(target),
    ...pauseAttacks(target, isShort),
    ...simAttacks(target, isShort),
    ...formAttacks(target.forms, isShort),
    ...attacksOnV2(target, isShort),
    ...mcpAttacks(target),
    ...mcpServerAttacks(target, isShort),
    ...traceAttacks(target, isShort),
    ...assistantAttacks(target),
    ...oauthAttacks(target),
  ]
}

function bodyAttacks(target: Target, isShort: boolean): Attack[] {
  const { openWebhook, publicChat, anyEndpoint } = target
  const key = { 'x-api-key': target.apiKey }
  const receivers = [
    { name: 'open webhook', url: openWebhook, headers: {} },
    { name: 'public chat', url: publicChat, headers: {} },
    { name: 'execute', url: anyEndpoint, headers: key },
  ]
  const attacks: Attack[] = []
  for (const plain of valueBombs()) {
    for (const compression of isShort ? (['none', 'zstd'] as const) : compressions) {
      const body = sent(plain, compression)
      for (const { name, url, headers } of receivers) {
        const request = { url, headers: { ...body.headers, ...headers }, bytes: body.bytes }
        if (!isShort) attacks.push({ name: `${name}: ${body.name}`, requests: [request] })
        attacks.push({ name: `${name}: ${body.name}, 4 at once`, requests: [request, request, request, request] })
      }
    }
  }
  return attacks
}

/** Bodies that are accepted cost their processing, redaction and storage. */
function admittedAttacks({ openWebhook, anyEndpoint, ordinary, apiKey }: Target): Attack[] {
  const key = { 'x-api-key': apiKey }
  const anonymous = admittedBodies({ values: 20_000, bytes: MB })
  const known = admittedBodies({ values: 200_000, bytes: 10 * MB })
  const four = (name: string, url: string, headers: Record<string, string>) => (body: PlainBody) =>
    attack(`${name}, 4 at once`, url, sent(body, 'none'), headers, 4)
  return [
    ...anonymous.map(four('open webhook', openWebhook, {})),
    ...known.map(four('execute', anyEndpoint, key)),
    ...known.map(four('asynchronous', ordinary, { ...key, 'x-execution-mode': 'async' })),
  ]
}

/** Lists with an error in each item, which must not become a response of the same length. */
function listAttacks(target: Target): Attack[] {
  const { url, publicChat, filesEndpoint, ordinary, apiKey } = target
  const zeros = json('file items that are no objects', `{"input":"x","files":[${'0,'.repeat(4_000_000)}0]}`)
  const fewer = json('file items that are no objects', `{"files":[${'0,'.repeat(300_000)}0]}`)
  const outputs = json('selected outputs', `{"stream":true,"selectedOutputs":[${'"a.b",'.repeat(300_000)}"a.b"]}`)
  const key = { 'x-api-key': apiKey }
  return [
    attack('public chat', publicChat, sent(zeros, 'zstd'), {}, 3),
    attack('execute with files', filesEndpoint, sent(fewer, 'none'), key),
    attack('execute with files', filesEndpoint, sent(zeros, 'zstd'), key),
    attack('stream', ordinary, sent(outputs, 'zstd'), key),
    attack('open webhook query', `${target.openWebhook}?${'a&'.repeat(7_000)}`, sent(json('empty', '{}'), 'none'), {}),
    attack('save', `${url}/api/workflows`, sent(json('unknown blocks', unknownBlocks(100_000)), 'none'), key),
  ]
}

function documentAttacks(target: Target): Attack[] {
  const { url, apiKey, cookie, ordinary, filesEndpoint } = target
  const key = { 'x-api-key': apiKey }
  const session = { cookie, origin: url }
  const check = ordinary.replace('/api/workflows', '/api/editor/workflows').replace('/execute', '/check')
  const edges = (count: number) => {
    const blocks = '"a":{"type":"condition","name":"a","params":{}},"b":{"type":"condition","name":"b","params":{}}'
    const list = Array(count).fill('{"source":"a","target":"b"}').join(',')
    return json(`${count} equal edges`, `{"name":"x","blocks":{${blocks}},"edges":[${list}]}`)
  }
  // Saving changes only the draft. The deployed version stays.
  const draft = filesEndpoint.replace('/execute', '')
  return [
    ...Object.entries(worstDocuments()).flatMap(([name, text]) => [
      attack('check, 4 at once', check, sent(json(name, text), 'none'), session, 4),
      putting(attack('save', draft, sent(json(name, text), 'none'), key)),
    ]),
    ...[4_000, 8_000, 100_000, 300_000].flatMap((count) => [
      attack('save', `${url}/api/workflows`, sent(edges(count), 'zstd'), key),
      attack('check', check, sent(edges(count), 'zstd'), session),
    ]),
    attack('check', check, sent(json('a ring with a tail', ringWithTail(8_000)), 'zstd'), session),
    attack('check', check, sent(json('100,000 unknown blocks', unknownBlocks(100_000)), 'zstd'), session),
    attack('save', `${url}/api/workflows`, sent(json('a ring with a tail', ringWithTail(8_000)), 'zstd'), key),
  ]
}

/** Requests whose cost is in the expressions of an innocent workflow. Filled in by `deployExpressions`. */
function expressionAttacks({ expressions, apiKey }: Target): Attack[] {
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' }
  const zeros = (count: number) => `[${'0,'.repeat(count - 1)}0]`
  const inputs: Record<string, string> = {
    keys: `{"a":${zeros(150_000)}}`,
    stringify: JSON.stringify({ s: 'x'.repeat(9 * MB) }),
    concat: `{"a":${zeros(150_000)}}`,
    compare: JSON.stringify({ s: 'x'.repeat(9 * MB) }),
  }
  return Object.entries(expressions).map(([name, url]) => ({
    name: `expression: ${name}`,
    requests: [{ url, headers, bytes: Buffer.from(inputs[name] ?? '{}') }],
  }))
}

/** Responses that are many times as large as the request. */
function responseAttacks({ repeating, apiKey }: Target): Attack[] {
  const body = sent(json('a text of 8 MB', JSON.stringify({ s: 'x'.repeat(8 * MB) })), 'none')
  return Object.entries(repeating).map(([name, url]) => attack(`response ${name}`, url, body, { 'x-api-key': apiKey }))
}

/** Bodies that are small enough to be accepted, and that take much more memory when they are parsed. */
function manyVisitors({ openWebhook }: Target): Attack {
  const [, , strings] = admittedBodies({ values: 20_000, bytes: MB })
  return attack('open webhook, 200 at once', openWebhook, sent(strings as PlainBody, 'none'), {}, 200)
}

function attack(name: string, url: string, body: SentBody, headers: Record<string, string>, atOnce = 1): Attack {
  const request = { url, headers: { ...body.headers, ...headers }, bytes: body.bytes }
  return { name: `${name}: ${body.name}`, requests: Array(atOnce).fill(request) as AttackRequest[] }
}

function putting({ requests, ...attack }: Attack): Attack {
  return { ...attack, requests: requests.map((request) => ({ ...request, method: 'PUT' })) }
}

function json(name: string, text: string): PlainBody {
  return { name, type: 'application/json', bytes: Buffer.from(text) }
}

function unknownBlocks(count: number): string {
  const blocks = Array.from({ length: count }, (_, n) => `"b${n}":{"type":"nothing","name":"b${n}","params":{}}`)
  return `{"name":"x","blocks":{${blocks.join(',')}},"edges":[]}`
}

/** Two blocks in a ring, and a long row of blocks behind them. */
function ringWithTail(count: number): string {
  const blocks = Array.from({ length: count }, (_, n) => `"b${n}":{"type":"variables","name":"b${n}","params":{}}`)
  const edge = (source: number, target: number) => `{"source":"b${source}","target":"b${target}"}`
  const tail = Array.from({ length: count - 1 }, (_, n) => edge(n, n + 1))
  return `{"name":"x","blocks":{${blocks.join(',')}},"edges":[${[edge(1, 0), ...tail].join(',')}]}`
}
