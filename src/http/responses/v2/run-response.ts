import type { RunFailure, RunRecord } from '../../../domain/run/log.ts'
import type { RunEnd } from '../../../engine/run/run-end.ts'
import { failureFacts, type Writing, withJson } from '../run-response.ts'
import { isoTime } from '../schema-parts.ts'
import { privateNoStore } from './envelope.ts'
import type { RunErrorV2 } from './run-schemas.ts'

/** The response for a run that ended, failed or not, or that is paused. */
export function runResponseV2(
  { record, suspension }: RunEnd,
  headers: Record<string, string>,
  writing: Writing,
  outputs: Record<string, unknown> | undefined,
): Response | Promise<Response> {
  const { executionId, workflowId, workspaceId, failure, startedAt, endedAt, durationMs } = record
  const status = suspension ? 'paused' : statusV2(failure)
  const error = failure && !suspension ? JSON.stringify(runErrorV2(failure, record)) : 'null'
  const end = suspension ? '' : `,"endedAt":"${isoTime(endedAt)}","durationMs":${durationMs}`
  headers['content-type'] = 'application/json'
  headers['cache-control'] = privateNoStore
  headers['x-run-id'] = executionId
  const write = (output: string, blockOutputs: string) => {
    const body =
      `{"data":{"runId":"${executionId}","workflowId":${JSON.stringify(workflowId)},"status":"${status}",` +
      `"output":${output},"blockOutputs":${blockOutputs},"error":${error},"startedAt":"${isoTime(startedAt)}"${end}}}`
    return new Response(writing.unsent.body(workspaceId, body), { headers })
  }
  const output = suspension ? null : record.output
  return withJson(output, workspaceId, writing, (text) => {
    if (outputs === undefined) return write(text, 'null')
    return withJson(outputs, workspaceId, writing, (values) => write(text, values))
  })
}

export function statusV2(failure: Pick<RunFailure, 'code'> | null): 'completed' | 'failed' | 'cancelled' {
  if (failure === null) return 'completed'
  return failure.code === 'CANCELLED' || failure.code === 'CLIENT_CLOSED' ? 'cancelled' : 'failed'
}

/** Why a run failed, for its caller, without secrets. */
export function runErrorV2(failure: RunFailure, record: Pick<RunRecord, 'secrets'>): RunErrorV2 {
  const { error, blockId, blockName } = failureFacts(failure, record)
  return errorV2Of({ code: failure.code, message: error, blockId, blockName })
}

/** The same for the facts of a log entry. */
export function errorV2Of(facts: {
  code: string
  message: string
  blockId?: unknown
  blockName?: unknown
}): RunErrorV2 {
  const { code, message, blockId, blockName } = facts
  return {
    message,
    code: codeOf(code, typeof blockId === 'string'),
    ...(typeof blockId === 'string' && { blockId }),
    ...(typeof blockName === 'string' && { blockName }),
  }
}

function codeOf(code: string, isOfBlock: boolean): RunErrorV2['code'] {
  if (code === 'EXECUTION_TIMEOUT') return 'TIMEOUT'
  if (code === 'CANCELLED' || code === 'CLIENT_CLOSED') return 'CANCELLED'
  return isOfBlock ? 'BLOCK_EXECUTION_FAILED' : 'EXECUTION_FAILED'
}
