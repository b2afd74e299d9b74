import { McpError } from '../domain/mcp-server.ts'
import { isObject } from '../domain/run/input.ts'
import { type InSlices, largeBytes, type Slices } from '../domain/slices.ts'
import { jsonRefusal } from '../domain/text/json.ts'

export type RpcRequest = { jsonrpc: '2.0'; id: number; method: string; params: Record<string, unknown> }
export type RpcNotification = { jsonrpc: '2.0'; method: string; params?: Record<string, unknown> }
/** The client's response to a request of the server. */
export type RpcReply = { jsonrpc: '2.0'; id: string | number } & (
  | { result: Record<string, unknown> }
  | { error: { code: number; message: string } }
)
export type Outgoing = RpcRequest | RpcNotification | RpcReply

/** A message of the server: a response, a request or a notification. */
export type Incoming = Record<string, unknown>

/** Reads the text of one message, or of a list of messages. Throws `McpError`. */
export async function readMessages(text: string, host: string, inSlices: InSlices): Promise<Incoming[]> {
  const value = text.length > largeBytes ? await inSlices(parsed(text, host)) : parse(text, host)
  const messages: unknown[] = Array.isArray(value) ? value : [value]
  return messages.map((message) => {
    if (isObject(message)) return message
    throw unreadable(host, 'it is not a JSON-RPC message')
  })
}

function* parsed(text: string, host: string): Slices<unknown> {
  yield
  const value = parse(text, host)
  yield
  return value
}

function parse(text: string, host: string): unknown {
  const refusal = jsonRefusal(text)
  if (refusal !== undefined) throw unreadable(host, refusal)
  try {
    return JSON.parse(text)
  } catch {
    throw unreadable(host, 'it is not JSON')
  }
}

function unreadable(host: string, reason: string): McpError {
  return new McpError('INVALID_RESPONSE', `The response of the MCP server ${host} cannot be read: ${reason}.`)
}

/** The result of a response. Throws `McpError` with the server's own message. */
export function resultOf(response: Incoming, host: string): Record<string, unknown> {
  const { result, error } = response
  if (isObject(error)) {
    const said = typeof error['message'] === 'string' ? error['message'].slice(0, 500) : 'no reason'
    const code = typeof error['code'] === 'number' ? ` (code ${error['code']})` : ''
    throw new McpError('MCP_ERROR', `The MCP server ${host} refused the request: ${said}${code}`)
  }
  if (isObject(result)) return result
  throw unreadable(host, 'it has no result')
}

/** The id of a response; undefined for other messages. */
export function responseIdOf(message: Incoming): unknown {
  return 'method' in message ? undefined : message['id']
}
