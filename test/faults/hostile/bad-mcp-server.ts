import { block, type document } from '../../support/make.ts'
import type { Attack } from './attacks.ts'
import type { Target } from './target.ts'

type Message = { id: unknown; method: string }

/** How a bad MCP server answers requests after it has opened a session, by its name. */
const answers: Readonly<Record<string, (message: Message) => Response | Promise<Response>>> = {
  'a deep result': ({ id }) => json(`{"jsonrpc":"2.0","id":${id},"result":${deep(100_000)}}`),
  'a result of many values': ({ id }) => result(id, `{"content":[],"structuredContent":{"a":[${zeros(1_000_000)}]}}`),
  'a large result': ({ id }) => result(id, `{"content":[{"type":"text","text":"${'x'.repeat(9_000_000)}"}]}`),
  'many parts': ({ id }) => result(id, `{"content":[${texts(200_000)}]}`),
  'many files': ({ id }) => result(id, `{"content":[${images(99)}]}`),
  'a list of tools without end': ({ id }) =>
    result(id, `{"tools":[${tools(400, '{"type":"object"}')}],"nextCursor":"${crypto.randomUUID()}"}`),
  'tools with deep schemas': ({ id }) => result(id, `{"tools":[${tools(100, deep(2_000))}],"content":[]}`),
  'tools with wide schemas': ({ id }) => result(id, `{"tools":[${tools(20, wide(5_000))}],"content":[]}`),
  'tools with patterns': ({ id }) =>
    result(id, `{"tools":[${tools(400, '{"type":"object","properties":{"a":{"pattern":"^(a+)+$"}}}')}]}`),
  'an endless line': () => events('x'.repeat(65_536), 0),
  'endless notifications': () =>
    events('data: {"jsonrpc":"2.0","method":"notifications/message","params":{"data":"x"}}\n\n'.repeat(500), 0),
  'endless questions': () => events('data: {"jsonrpc":"2.0","id":"a","method":"ping"}\n\n'.repeat(500), 0),
  'a slow stream': () => events(': x\n\n', 100),
  'a stream that always breaks': () =>
    new Response('id: 1\nretry: 0\ndata: \n\n', { headers: { 'content-type': 'text/event-stream' } }),
  'a server that forgets its sessions': () => new Response(null, { status: 404 }),
  'a result for another request': () => result('"other"', '{"content":[]}'),
}

/** Answers a request to `/mcp/<name>` of the upstream server. */
export async function answerMcp(request: Request): Promise<Response> {
  if (request.method === 'DELETE') return new Response(null, { status: 405 })
  const name = decodeURIComponent(new URL(request.url).pathname.split('/')[2] ?? '')
  const message: Message = request.method === 'GET' ? { id: 0, method: 'GET' } : ((await request.json()) as Message)
  if (message.method === 'initialize') {
    const opened =
      '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}'
    const response = result(message.id, opened)
    response.headers.set('mcp-session-id', 'one')
    return response
  }
  if (message.id === undefined || message.method === undefined) return new Response(null, { status: 202 })
  return (await answers[name]?.(message)) ?? new Response(null, { status: 500 })
}

/** Deploys a workflow for each bad server. Returns their endpoints by name. */
export async function deployMcpCalls(
  make: (blocks: Parameters<typeof document>[0]['blocks'], edges: string[], name: string) => Promise<string>,
  upstream: string,
): Promise<Record<string, string>> {
  const endpoints: Record<string, string> = {}
  for (const name of Object.keys(answers)) {
    const start = block('start', 'api_trigger', {})
    const called = block('call', 'mcp', { server: addressOf(upstream, name), tool: 't', timeoutMs: 3_000 })
    endpoints[name] = await make([start, called], ['start > call'], `mcp ${name}`)
  }
  return endpoints
}

/**
 * Runs of workflows that call bad servers, and forms that list the tools of these servers. `isShort`: one of both for
 * each server.
 */
export function mcpServerAttacks(target: Target, isShort: boolean): Attack[] {
  const { mcpCalls, upstream, url, apiKey, cookie, workspaceId } = target
  const headers = { 'content-type': 'application/json' }
  return Object.entries(mcpCalls).flatMap(([name, endpoint]) => {
    const body = { workspaceId, server: addressOf(upstream, name), isFresh: true }
    const call = { url: endpoint, headers: { ...headers, 'x-api-key': apiKey }, bytes: Buffer.from('{}') }
    const list = {
      url: `${url}/api/editor/mcp/tools`,
      headers: { ...headers, cookie, origin: url },
      bytes: Buffer.from(JSON.stringify(body)),
    }
    const run = { name: `bad mcp server: run that calls ${name}, 4 at once`, requests: Array(4).fill(call) }
    const form = { name: `bad mcp server: form for ${name}, 4 at once`, requests: Array(4).fill(list) }
    return isShort ? [name.includes('tools') ? form : run] : [run, form]
  })
}

function addressOf(upstream: string, name: string): string {
  return `${upstream}mcp/${encodeURIComponent(name)}`
}

function json(text: string): Response {
  return new Response(text, { headers: { 'content-type': 'application/json' } })
}

function result(id: unknown, text: string): Response {
  return json(`{"jsonrpc":"2.0","id":${id},"result":${text}}`)
}

/** An event stream that never ends. */
function events(text: string, everyMs: number): Response {
  const bytes = Buffer.from(text)
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await Bun.sleep(everyMs)
      controller.enqueue(bytes)
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

function deep(levels: number): string {
  return `${'{"properties":{"a":'.repeat(levels)}{}${'}}'.repeat(levels)}`
}

function wide(members: number): string {
  return `{"type":"object","properties":{${Array.from({ length: members }, (_, n) => `"p${n}":{"type":"string"}`)}}}`
}

function tools(count: number, schema: string): string {
  return Array.from({ length: count }, (_, n) => `{"name":"t${n}","inputSchema":${schema}}`).join()
}

function zeros(count: number): string {
  return `${'0,'.repeat(count - 1)}0`
}

function texts(count: number): string {
  return Array(count).fill('{"type":"text","text":"x"}').join()
}

function images(count: number): string {
  return Array(count)
    .fill(`{"type":"image","mimeType":"image/png","data":"${'A'.repeat(80_000)}"}`)
    .join()
}
