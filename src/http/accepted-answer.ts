import { isoTime } from './answers.ts'
import type { AcceptedAnswer } from './execute-operation.ts'

/** The HTTP answer to an asynchronous run that is on disk. `headers`: those that every answer of the endpoint carries. */
export function acceptedAnswer(executionId: string, createdAt: number, headers: Record<string, string>): Response {
  const statusUrl = `/api/jobs/${executionId}`
  headers['x-execution-id'] = executionId
  headers['location'] = statusUrl
  headers['content-type'] = 'application/json'
  const answer: AcceptedAnswer = {
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
  return new Response(JSON.stringify(answer), { status: 202, headers })
}
