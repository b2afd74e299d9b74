import { messageOf, problemsError } from '../../../domain/errors.ts'
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
import { resultOf, textResult } from './tool-result.ts'

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
}

/**
 * Runs a workflow through the execute endpoint, so that access, limits and errors are the same. Resolves with the
 * result of the tool as JSON text.
 */
export async function callWorkflow(call: WorkflowCall): Promise<string> {
  const { services, door, request, server, set, apiKey, workflowId, observer, signal } = call
  const headers = set.headers as Record<string, string>
  const inner = new Request(request.url, {
    method: 'POST',
    headers: { 'x-api-key': apiKey },
    body: JSON.stringify(call.arguments),
    signal: services.settings.cancelOnDisconnect ? AbortSignal.any([signal, request.signal]) : signal,
  })
  const response = await respondToExecute({
    version: { ...toolVersion, observer },
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
  return await response.text()
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
  if (suspension) return new Response(pausedText(end))
  const { failure } = record
  if (failure) {
    const facts = { ...failureFacts(failure, record), executionId: record.executionId }
    const where = facts.blockName === null ? '' : ` in the block "${facts.blockName}"`
    const text = `The run failed${where}: ${facts.error}\nget_run shows what happened in the run ${facts.executionId}.`
    return new Response(textResult(text, facts, true))
  }
  const value = response ? response.data : record.output
  return withJson(value, record.workspaceId, writing, (text) => new Response(resultOf(text, isObject(value))))
}

function pausedText(end: RunEnd): string {
  const facts = pausedFacts(end)
  const waits = facts.paused.map(({ blockName, kind, until }) => {
    return `"${blockName}" (${kind}${until === null ? '' : `, until ${until}`})`
  })
  const text =
    `The run ${facts.executionId} is paused at ${waits.join(', ')}. It has no result yet, and continues without you ` +
    'when the pause is answered or ends. Do not call the tool again for the same work. get_run shows the state of ' +
    `the run; GET ${facts.statusUrl} returns its output when it has ended.`
  return textResult(text, facts)
}

function acceptedText(executionId: string): string {
  const text =
    `The run ${executionId} starts later, because the workflow combines starts that come shortly after each other. ` +
    'get_run shows its state.'
  return textResult(text, { success: true, status: 'queued', executionId })
}

/** The result of a start that the limits of the workflow skipped. */
export function skippedText(thrown: unknown): string {
  return textResult(`Nothing was run. ${messageOf(thrown)}.`, { success: true, status: 'skipped' })
}
