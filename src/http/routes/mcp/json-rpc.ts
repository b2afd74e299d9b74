import { AppError } from '../../../domain/errors.ts'
import { isObject } from '../../../domain/run/input.ts'

export type RpcId = string | number
/** A request, or a notification if it has no ID. */
export type RpcMessage = { id: RpcId | undefined; method: string; params: Record<string, unknown> }
/** The client's response to a request of the server. `result`: undefined when the client could not handle it. */
export type RpcAnswer = { answered: RpcId; result: Record<string, unknown> | undefined }

export const rpcCodes = {
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
  resourceNotFound: -32_002,
} as const

/** An error of the protocol: the client asked for something that does not exist. */
export class RpcError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.name = 'RpcError'
    this.code = code
  }
}

/** Reads the body of a request. Throws INVALID_INPUT. */
export function readMessage(body: unknown): RpcMessage | RpcAnswer {
  if (Array.isArray(body)) throw refuse('Send one JSON-RPC message in each request. Batches are not supported.')
  if (!isObject(body) || body['jsonrpc'] !== '2.0') throw refuse('The body must be a JSON-RPC 2.0 message.')
  const { id, method, params = {}, result } = body
  if (method === undefined && ('result' in body || 'error' in body)) {
    return { answered: isId(id) ? id : '', result: isObject(result) ? result : undefined }
  }
  if (typeof method !== 'string') throw refuse('"method" must be text.')
  if (!isObject(params)) throw refuse('"params" must be an object.')
  if (id !== undefined && !isId(id))
    throw refuse(`"id" must be a number, or a text of at most ${idCharsMax} characters.`)
  return { id, method, params }
}

export function isId(id: unknown): id is RpcId {
  return typeof id === 'string' ? id.length <= idCharsMax : Number.isFinite(id)
}

/** `result`: JSON text. */
export function resultText(id: RpcId, result: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`
}

export function errorText(id: RpcId, { code, message }: RpcError): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })
}

export function requestText(id: RpcId, method: string, params: object): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params })
}

export function notificationText(method: string, params: object): string {
  return JSON.stringify({ jsonrpc: '2.0', method, params })
}

const idCharsMax = 200

function refuse(message: string): AppError {
  return new AppError('INVALID_INPUT', message)
}
