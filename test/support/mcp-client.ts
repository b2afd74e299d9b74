import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  type ElicitRequestFormParams,
  ElicitRequestSchema,
  type ElicitResult,
} from '@modelcontextprotocol/sdk/types.js'
import { temporaryFolder } from './executable.ts'
import { init, serve } from './running-service.ts'

type Send = (url: string | URL, init?: RequestInit) => Promise<Response>

/** Answers a form, as the person who uses the client. */
export type OnForm = (form: ElicitRequestFormParams, signal: AbortSignal) => Promise<ElicitResult> | ElicitResult

/**
 * The official client, connected with a key. `path`: `/mcp`, or that of a workspace. `onForm`: shows forms; without it,
 * the client cannot ask its user. `send`: sends the requests, in place of `fetch`.
 */
export async function connectMcp(
  url: string,
  apiKey: string,
  { path = '/mcp', onForm, send }: { path?: string; onForm?: OnForm; send?: Send } = {},
): Promise<Client> {
  const capabilities = onForm ? { elicitation: { form: {} } } : {}
  const client = new Client({ name: 'test', version: '1.0.0' }, { capabilities })
  if (onForm) {
    client.setRequestHandler(ElicitRequestSchema, ({ params }, { signal }) =>
      onForm(params as ElicitRequestFormParams, signal),
    )
  }
  const requestInit = { headers: { authorization: `Bearer ${apiKey}` } }
  const transport = new StreamableHTTPClientTransport(new URL(`${url}${path}`), {
    requestInit,
    ...(send && { fetch: send }),
  })
  // Its optional members are typed as not undefined, but the class has undefined ones.
  await client.connect(transport as Parameters<Client['connect']>[0])
  return client
}

export type ConnectedMcp = { client: Client } & AsyncDisposable

/** Starts the executable on a new installation, and connects the official client to it. */
export async function startConnected(): Promise<ConnectedMcp> {
  const folder = temporaryFolder()
  const installation = await init(folder.path)
  const service = await serve(folder.path)
  const client = await connectMcp(service.url, installation.apiKey)
  return {
    client,
    async [Symbol.asyncDispose]() {
      await client.close()
      await service.kill('SIGTERM')
      folder[Symbol.dispose]()
    },
  }
}

export type ToolResult = {
  content: { type: string; text: string }[]
  structuredContent?: Record<string, unknown>
  isError?: boolean
}

/** The result of a tool, which may be a refusal. */
export async function callTool(
  client: Client,
  name: string,
  given: Record<string, unknown> = {},
  options: Parameters<Client['callTool']>[2] = {},
): Promise<ToolResult> {
  return (await client.callTool({ name, arguments: given }, undefined, options)) as ToolResult
}

/** The structured result of a tool that must succeed. */
export async function resultOfTool<Value = Record<string, never>>(
  client: Client,
  name: string,
  given: Record<string, unknown> = {},
): Promise<Value> {
  const result = await callTool(client, name, given)
  if (result.isError) throw new Error(`${name} failed: ${result.content[0]?.text}`)
  return result.structuredContent as Value
}
