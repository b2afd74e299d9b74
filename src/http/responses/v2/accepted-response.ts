import { privateNoStore } from './envelope.ts'
import type { AcceptedV2 } from './run-schemas.ts'

/** The 202 response for a run that goes on without its caller. */
export function acceptedResponseV2(
  baseUrl: string,
  run: { workflowId: string; executionId: string },
  headers: Record<string, string>,
): Response {
  const data = acceptedV2(baseUrl, run)
  Object.assign(headers, {
    'x-run-id': run.executionId,
    location: data.statusUrl,
    'content-type': 'application/json',
    'cache-control': privateNoStore,
  })
  return new Response(JSON.stringify({ data }), { status: 202, headers })
}

export function acceptedV2(
  baseUrl: string,
  { workflowId, executionId }: { workflowId: string; executionId: string },
): AcceptedV2 {
  const path = `/api/v2/workflows/${encodeURIComponent(workflowId)}/runs/${encodeURIComponent(executionId)}`
  return { runId: executionId, statusUrl: `${baseUrl.replace(/\/$/, '')}${path}` }
}
