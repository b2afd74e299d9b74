import { problemsError } from '../../../domain/errors.ts'
import { isObject, readInput } from '../../../domain/run/input.ts'
import type { RunObserver } from '../../../domain/run/run-observer.ts'
import type { RunEnd } from '../../../engine/run/run-end.ts'
import type { ServerPort } from '../../access/connection.ts'
import type { Door, ResponseSet } from '../../access/door.ts'
import { pausedFacts } from '../../responses/pauses/paused-response.ts'
import { failureFacts, type Writing, withJson } from '../../responses/run-response.ts'
import type { ExecuteServices } from '../../run-services.ts'
import { respondToExecute } from '../execute.ts'
import { type ExecuteVersion, versionOne } from '../execution/version.ts'
import { acceptedText, failedText, pausedText } from './run-results.ts'
import { resultOf } from './tool-result.ts'

/** A call of a workflow as a tool. */
export type WorkflowCall = {
  services: ExecuteServices
  door: Door
  request: Request
  server: ServerPort | null
  set: ResponseSet
  /** The key of the caller. */
  apiKey: string
  workflowId: string
  arguments: Record<string, unknown>
  signal: AbortSignal
  observer: RunObserver | undefined
  /** Called when the run has paused. Resolves with the result of the tool. */
  continuePaused?: ((executionId: string) => Promise<string>) | undefined
}

/**
 * Runs a workflow through the execute endpoint, so that access, limits and errors are the same. Resolves with the
 * result of the tool as JSON text.
 */
export async function callWorkflow(call: WorkflowCall): Promise<string> {
  const { services, door, request, server, set, apiKey, workflowId, observer, signal, continuePaused } = call
  const headers = set.headers as Record<string, string>
  const inner = new Request(request.url, {
    method: 'POST',
    headers: { 'x-api-key': apiKey },
    body: JSON.stringify(call.arguments),
    signal: services.settings.cancelOnDisconnect ? AbortSignal.any([signal, request.signal]) : signal,
  })
  let pausedId: string | undefined
  const ended: ExecuteVersion['ended'] = (end, _headers, writing) => {
    if (end.suspension) pausedId = end.record.executionId
    return endedResponse(end, writing)
  }
  const response = await respondToExecute({
    version: { ...toolVersion, observer, ended },
    // The signal says when the run is to be cancelled.
    services: { ...services, settings: { ...services.settings, cancelOnDisconnect: true } },
    ...{ door, request: inner, workflowId, set, headers, mode: 'sync', limitedId: undefined },
    server: server && {
      requestIP: () => server.requestIP(request),
      timeout: (_, seconds) => server.timeout(request, seconds),
    },
  })
  const executionId = headers['x-execution-id']
  door.note(request, { workflowId, ...(executionId !== undefined && { executionId }) })
  const text = await response.text()
  return pausedId !== undefined && continuePaused ? await continuePaused(pausedId) : text
}

const toolVersion: ExecuteVersion = {
  ...versionOne,
  source: 'mcp',
  modeOf: () => 'sync',
  idempotencyKeyOf: () => undefined,
  read({ body, trigger }) {
    const reading = readInput(isObject(body) ? body : {}, trigger.format)
    if (!reading.ok) throw problemsError('INVALID_INPUT', reading.details)
    return { input: reading.value, stream: undefined, events: undefined }
  },
  accepted: ({ executionId }) => new Response(acceptedText(executionId)),
  ended: (end, _headers, writing) => endedResponse(end, writing),
}

function endedResponse(end: RunEnd, writing: Writing): Response | Promise<Response> {
  const { record, response, suspension } = end
  if (suspension) return new Response(pausedText(pausedFacts(end)))
  const { failure } = record
  if (failure) {
    const facts = { ...failureFacts(failure, record), executionId: record.executionId }
    return new Response(failedText(facts))
  }
  const value = response ? response.data : record.output
  return withJson(value, record.workspaceId, writing, (text) => new Response(resultOf(text, isObject(value))))
}
