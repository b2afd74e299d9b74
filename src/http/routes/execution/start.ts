import { AppError, startedNothing } from '../../../domain/errors.ts'
import { newExecutionId } from '../../../domain/ids.ts'
import type { TriggerInput } from '../../../domain/run/input.ts'
import type { RunEnd } from '../../../engine/run/run-end.ts'
import type { RunRequest } from '../../../engine/run/run-request.ts'
import { allowSilence, disconnect } from '../../access/connection.ts'
import type { AgentEvents } from '../../requests/agent-events.ts'
import type { SelectedOutput } from '../../requests/selected-outputs.ts'
import { withTraceParent } from '../../requests/trace-parent.ts'
import { RunEvents } from '../../streams/run-events.ts'
import { streamRun } from '../../streams/run-stream.ts'
import type { Admitted, Call } from './admission.ts'
import type { IdempotentExecution } from './idempotent-execution.ts'
import type { Wanted } from './version.ts'

/** A new ID, or the one that the caller wants. Throws RUN_ID_CONFLICT when another run has it. */
export async function claimedId({ services }: Call, runId: string): Promise<string> {
  if (await services.claimRunId(runId, services.clock.now())) return runId
  throw new AppError('RUN_ID_CONFLICT', 'A run with this ID was started before. Use a new ID.')
}

export const idFor = (call: Call, { runId }: Wanted): string | Promise<string> =>
  runId === undefined ? newExecutionId() : claimedId(call, runId)

type Start = { executionId: string; input: TriggerInput; wanted: Wanted }

/** Starts a run and responds to its caller. */
export function startRun(
  call: Call,
  admitted: Admitted,
  start: Start,
  keyed: IdempotentExecution | undefined,
): Promise<Response> {
  const { wanted, executionId } = start
  if (wanted.runId === undefined) return begin(call, admitted, start, keyed)
  return releasing(call, executionId, () => begin(call, admitted, start, keyed))
}

/** A caller whose start was refused may try it again with the same ID. */
async function releasing({ services }: Call, executionId: string, run: () => Promise<Response>): Promise<Response> {
  try {
    return await run()
  } catch (error) {
    if (startedNothing(error)) await services.releaseRunId(executionId).catch(() => undefined)
    throw error
  }
}

function begin(
  call: Call,
  admitted: Admitted,
  { executionId, input, wanted }: Start,
  keyed: IdempotentExecution | undefined,
): Promise<Response> {
  const run = runRequest(call, admitted, input, executionId, keyed)
  if (call.mode === 'async' || admitted.plan.startLimits?.debounce) return accept(call, run, keyed)
  if (wanted.stream) return streamResponse(call, run, wanted.stream, wanted.events)
  const { selected = [] } = wanted
  if (selected.length === 0) return call.services.execute(run).then((end) => responseOf(call, end, undefined))
  const outputs = new RunEvents(admitted.plan, selected, () => undefined)
  const observed = { ...run, observer: { ended: outputs.ended.bind(outputs) } }
  return call.services.execute(observed).then((end) => responseOf(call, end, outputs.found()))
}

function responseOf(
  { version, door, request, headers, services }: Call,
  end: RunEnd,
  outputs: Record<string, unknown> | undefined,
): Response | Promise<Response> {
  const { failure } = end.record
  if (failure && !end.suspension) door.note(request, { runCode: failure.code })
  return version.ended(end, headers, services, outputs)
}

function runRequest(
  call: Call,
  { plan, deployment }: Admitted,
  input: TriggerInput,
  executionId: string,
  keyed: IdempotentExecution | undefined,
): RunRequest & { executionId: string } {
  const { version, services, request, server, workflowId } = call
  // An asynchronous run exists only once it is on disk.
  if (call.mode === 'sync') {
    call.headers[call.version.runIdHeader] = executionId
    call.door.note(request, { executionId })
  }
  return {
    executionId,
    plan,
    workflowId,
    workspaceId: deployment.workspaceId,
    version: deployment.version ?? 0,
    trigger: 'api',
    input: withTraceParent(input, executionId, request, services),
    ...(version.source && { source: version.source }),
    ...(version.observer && { observer: version.observer }),
    ...(keyed && { claim: keyed.claim(), completeClaim: (claim, end) => keyed.completed(claim, end) }),
    callerSignal: () => {
      // A run may take longer than the server's idle timeout.
      allowSilence(request, server)
      return services.settings.cancelOnDisconnect ? request.signal : undefined
    },
  }
}

function streamResponse(
  { version, services, door, request, server, headers }: Call,
  run: RunRequest,
  selected: readonly SelectedOutput[],
  agentEvents: AgentEvents | undefined,
): Promise<Response> {
  const { clock, execute, inSlices, settings } = services
  return streamRun({
    request: run,
    selected,
    execute,
    inSlices,
    clock,
    callerSignal: run.callerSignal?.(),
    bytesWaitingMax: settings.streamBufferBytes,
    disconnect: () => disconnect(request, server),
    headers,
    format: version.stream,
    agentEvents,
    lost: (error) => door.onAborted(request, error),
  })
}

/** Responds as soon as the run is on disk and queued. */
async function accept(
  { version, services, door, request, headers }: Call,
  run: RunRequest & { executionId: string },
  keyed: IdempotentExecution | undefined,
): Promise<Response> {
  const { executionId, workflowId, workspaceId, version: number, input, claim } = run
  const job = { workflowId, workspaceId, version: number, trigger: 'api' as const, input, executionId }
  if (keyed && claim) {
    const { job: accepted } = await services.acceptOnce(job, await keyed.accepted(claim, executionId))
    if (!accepted) return await keyed.refused(headers)
    door.note(request, { executionId: accepted.executionId })
    return version.accepted({ workflowId, executionId: accepted.executionId, at: claim.at }, headers)
  }
  const accepted = await services.accept(job)
  door.note(request, { executionId: accepted.executionId })
  return version.accepted({ workflowId, executionId: accepted.executionId, at: accepted.createdAt }, headers)
}
