import { block, document } from '../../support/make.ts'
import { deploy, type Serving, serve } from '../../support/running-service.ts'
import { deployMcpCalls } from './bad-mcp-server.ts'
import { deployForms, type OpenForms } from './forms.ts'
import { deployGuardrails } from './guardrails.ts'
import { deployLargeValues } from './large-values.ts'
import { type PausedRuns, startPausedRuns } from './pauses.ts'
import { type StoredValues, storeLargeValues } from './stored-values.ts'
import { storeTests } from './workflow-tests.ts'

/** A running service with the workflows that the attacks use. */
export type Target = {
  service: Serving
  url: string
  data: string
  apiKey: string
  /** A session of the owner, for the routes of the dashboard. */
  cookie: string
  workspaceId: string
  /** The endpoint that ordinary callers use. */
  ordinary: string
  /** An inbound webhook that anyone may call. */
  openWebhook: string
  /** An inbound webhook that waits for its workflow. */
  slowWebhook: string
  /** A chat that anyone may use. */
  publicChat: string
  /** An endpoint whose input has a field for files. */
  filesEndpoint: string
  /** An endpoint that accepts any object. */
  anyEndpoint: string
  /** Endpoints whose response repeats the text of the input 3, 20 and 50 times. */
  repeating: Readonly<Record<string, string>>
  /** Endpoints with a condition that is expensive for a large input, by name. */
  expressions: Readonly<Record<string, string>>
  /** Endpoints whose runs have large values, by name. */
  large: Readonly<Record<string, string>>
  /** Endpoints that check a text, by the check. */
  guardrails: Readonly<Record<string, string>>
  /** Endpoints of workflows that call MCP servers, by the fault of the server. */
  mcpCalls: Readonly<Record<string, string>>
  /** The address of the server whose responses are large. */
  upstream: string
  paused: PausedRuns
  /** Forms and an approval that anyone may send. */
  forms: OpenForms
  /** Large values that were stored before. */
  stored: StoredValues
}

/** Otherwise, most requests of an attack would be refused before anything else is checked. */
const openLimits = {
  // For the server whose responses are large.
  MILLRACE_OUTBOUND_ALLOW: 'loopback',
  MILLRACE_CHAT_VISITOR_PER_MINUTE: '1000000',
  MILLRACE_WEBHOOK_VISITOR_PER_MINUTE: '1000000',
  MILLRACE_FORM_VISITOR_PER_MINUTE: '1000000',
}

/** Starts the executable in an empty folder, and deploys the workflows. */
export async function startTarget(
  data: string,
  upstream: string,
  environment: Record<string, string> = {},
): Promise<Target> {
  const assistant = { MILLRACE_ASSISTANT_MODEL: 'openai-compatible/x', MILLRACE_ASSISTANT_BASE_URL: `${upstream}0` }
  const service = await serve(data, {
    ...{ MILLRACE_ACCESS_LOG: 'off', ...openLimits },
    ...{ OTEL_EXPORTER_OTLP_ENDPOINT: `${upstream}otlp`, OTEL_EXPORTER_OTLP_TIMEOUT: '500' },
    ...{ OTEL_BSP_SCHEDULE_DELAY: '100', OTEL_METRIC_EXPORT_INTERVAL: '500' },
    ...assistant,
    ...environment,
  })
  const { url } = service
  const printed = (label: RegExp) => label.exec(service.output())?.[1] ?? ''
  const apiKey = printed(/API key +(\S+)/)
  const workspaceId = printed(/Workspace +(\S+)/)
  const signedIn = await fetch(printed(/Sign-in link +(\S+)/), { redirect: 'manual' })
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? ''
  // A workspace with secrets: everything that is logged is searched for them.
  const secretOf = (name: string) => `a secret % value of ${name} "quoted"`
  const secrets = Object.fromEntries(['FIRST', 'SECOND', 'THIRD'].map((name) => [name, secretOf(name)]))
  for (const [name, value] of Object.entries({ ...secrets, SYMBOLS: '!@#$%^&*()', CYRILLIC: 'парольдлявсех' })) {
    await fetch(`${url}/api/workspaces/${workspaceId}/environment/${name}`, {
      method: 'PUT',
      headers: { 'x-api-key': apiKey },
      body: JSON.stringify({ value }),
    })
  }
  const condition = block('if', 'condition', { conditions: [{ id: 'yes', expression: '<start.n> > 3' }] })
  const webhook = (path: string, respond: string) =>
    block('hook', 'webhook_trigger', { path, respond, authentication: { type: 'none' } })
  const make = (blocks: Parameters<typeof document>[0]['blocks'], edges: string[], name: string) =>
    deploy(url, apiKey, document({ name, blocks, edges }))
  const start = (...inputFormat: object[]) => block('start', 'api_trigger', { inputFormat })
  const ordinary = await make([start({ name: 'n', type: 'number' }), condition], ['start > if'], 'ordinary')
  const hasItems = block('if', 'condition', { conditions: [{ id: 'yes', expression: '<hook.body.items>.length > 3' }] })
  await make([webhook('open', 'immediately'), hasItems], ['hook > if'], 'open webhook')
  const wait = block('wait', 'wait', { ms: 9_000 })
  await make([webhook('slow', 'workflow'), wait], ['hook > wait'], 'slow webhook')
  const reply = block('reply', 'response', { data: { text: 'Hello' } })
  await make(
    [block('chat', 'chat_trigger', { identifier: 'public', access: 'public' }), reply],
    ['chat > reply'],
    'public chat',
  )
  const filesEndpoint = await make([start({ name: 'files', type: 'files' }), reply], ['start > reply'], 'files')
  const anyEndpoint = await make([start(), reply], ['start > reply'], 'any input')
  const costly: Record<string, string> = {
    keys: `[${Array(20).fill('Object.keys(<start.a>).length').join(', ')}].at(0) > 0`,
    stringify: `JSON.stringify([${Array(200).fill('<start.s>').join(', ')}]).length > 0`,
    concat: `<start.a>.concat(${Array(20).fill('<start.a>').join(', ')}).length > 0`,
    compare: Array(50).fill('(<start.s> + "a") == (<start.s> + "b")').join(' || '),
  }
  const expressions: Record<string, string> = {}
  for (const [name, expression] of Object.entries(costly)) {
    const fields = [
      { name: 'a', type: 'array' },
      { name: 's', type: 'string' },
    ]
    const blocks = [start(...fields), block('if', 'condition', { conditions: [{ id: 'yes', expression }] })]
    expressions[name] = await make(blocks, ['start > if'], `expression ${name}`)
  }
  const repeating: Record<string, string> = {}
  for (const times of [3, 20, 50]) {
    const repeat = block('reply', 'response', { data: { texts: Array(times).fill('<start.s>') } })
    const blocks = [start({ name: 's', type: 'string' }), repeat]
    repeating[`${times} times`] = await make(blocks, ['start > reply'], `repeated ${times} times`)
  }
  const account = { url, apiKey, cookie, workspaceId }
  const stored = { ...(await storeLargeValues(account)), ...(await storeTests(account)) }
  const large = await deployLargeValues(make, upstream.replace(/\/$/, ''))
  const paused = await startPausedRuns(make, { url, apiKey, workspaceId })
  return {
    ...{ service, url, data, apiKey, cookie, workspaceId, ordinary, filesEndpoint, anyEndpoint, expressions, large },
    ...{ repeating, stored, paused, guardrails: await deployGuardrails(make), forms: await deployForms(url, apiKey) },
    ...{ upstream, mcpCalls: await deployMcpCalls(make, upstream) },
    openWebhook: `${url}/api/webhooks/trigger/open`,
    slowWebhook: `${url}/api/webhooks/trigger/slow`,
    publicChat: `${url}/api/chat/public`,
  }
}
