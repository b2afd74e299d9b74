import { AppError, type ErrorCode, type ErrorDetail, errorCodes } from '../../../domain/errors.ts'
import { isObject } from '../../../domain/run/input.ts'
import type { Turns } from '../../requests/turns.ts'

/** How tools work in this process. */
export type ToolRequests = {
  /** Handles a request of the API. */
  fetch(request: Request): Promise<Response> | Response
  /** For work with whole documents, each of which takes many times its size in memory. */
  turns: Turns
}

/**
 * Calls a route of the API with the key of the client. Rejects with the error of the route. `signal`: ends long work.
 */
export type ApiCall = (
  method: 'GET' | 'POST' | 'PUT',
  path: string,
  more?: { body?: unknown; headers?: Record<string, string>; signal?: AbortSignal },
) => Promise<Record<string, unknown>>

/** Calls the routes in this process, so that a tool may do exactly what the API allows to the key. */
export function apiCallOf(fetch: ToolRequests['fetch'], apiKey: () => string): ApiCall {
  return async (method, path, { body, headers = {}, signal } = {}) => {
    const request = new Request(`http://localhost${path}`, {
      method,
      headers: { 'x-api-key': apiKey(), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    })
    const response = await fetch(request)
    const read: unknown = response.status === 204 ? {} : await response.json()
    const answer = isObject(read) ? read : {}
    if (response.ok) return answer
    throw errorIn(answer)
  }
}

function errorIn({ code, error, details }: Record<string, unknown>): AppError {
  const known = errorCodes.find((each) => each === code)
  const message = typeof error === 'string' ? error : 'Internal error'
  const rows = Array.isArray(details) ? { details: details as ErrorDetail[] } : {}
  return new AppError(known ?? ('INTERNAL' satisfies ErrorCode), message, rows)
}
