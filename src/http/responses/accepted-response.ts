import type { AcceptedResponse } from '../openapi/execute-operation.ts'
import { isoTime } from './schema-parts.ts'

/**
 * The 202 response for an asynchronous run that is on disk. `headers`: the headers that every response of the endpoint
 * carries.
 */
export function acceptedResponse(executionId: string, createdAt: number, headers: Record<string, string>): Response {
  const statusUrl = `/api/jobs/${executionId}`
  headers['x-execution-id'] = executionId
  headers['location'] = statusUrl
  headers['content-type'] = 'application/json'
  const body: AcceptedResponse = {
    success: true,
    async: true,
    taskId: executionId,
    jobId: executionId,
    executionId,
    status: 'queued',
    createdAt: isoTime(createdAt),
    statusUrl,
    links: { status: statusUrl },
  }
  return new Response(JSON.stringify(body), { status: 202, headers })
}
