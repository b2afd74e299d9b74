import type { DocumentDecoration } from 'elysia'
import type { TriggerInput } from '../../../domain/run/input.ts'
import type { RunSource } from '../../../domain/run/log.ts'
import type { RunObserver } from '../../../domain/run/run-observer.ts'
import type { Plan, PlanTrigger } from '../../../engine/compile/plan.ts'
import type { RunEnd } from '../../../engine/run/run-end.ts'
import { executeDetail } from '../../openapi/execute-operation.ts'
import type { AgentEvents } from '../../requests/agent-events.ts'
import { readExecuteBody } from '../../requests/execute-body.ts'
import { idempotencyKeyOf } from '../../requests/idempotency-key.ts'
import type { SelectedOutput } from '../../requests/selected-outputs.ts'
import { acceptedResponse } from '../../responses/accepted-response.ts'
import { runResponse, type Writing } from '../../responses/run-response.ts'
import { type StreamFormat, streamFormat } from '../../streams/stream-format.ts'

export type Mode = 'sync' | 'async'

/** The content of a request. */
export type Wanted = {
  input: TriggerInput
  /** The selected outputs of a streamed response; undefined when the response is not streamed. */
  stream: readonly SelectedOutput[] | undefined
  /** Those of a response that is not streamed; empty when it shows none. */
  selected?: readonly SelectedOutput[]
  /** The messages about agents that a stream has; undefined for a caller that does not know them. */
  events?: AgentEvents | undefined
  /** An ID for the run, which no other run may have had. */
  runId?: string | undefined
}

export type RequestContent = { request: Request; body: unknown; trigger: PlanTrigger; plan: Plan; mode: Mode }

/** How a version of the API reads the requests of the execute endpoint and writes its responses. */
export type ExecuteVersion = {
  path: string
  detail: DocumentDecoration
  /** `body`: undefined before it was read. */
  modeOf(request: Request, body: unknown): Mode
  idempotencyKeyOf(request: Request): string | undefined
  /** Throws INVALID_INPUT with every mistake. */
  read(content: RequestContent): Wanted
  /** The header of responses that names the run. */
  runIdHeader: string
  accepted(run: { workflowId: string; executionId: string; at: number }, headers: Record<string, string>): Response
  /** `outputs`: the values of the selected outputs, if the request selected any. */
  ended(
    end: RunEnd,
    headers: Record<string, string>,
    writing: Writing,
    outputs: Record<string, unknown> | undefined,
  ): Response | Promise<Response>
  stream: StreamFormat
  /** How the log says that the runs were started; undefined for requests of the API. */
  source?: RunSource
  /** Receives what happens in a run. */
  observer?: RunObserver | undefined
}

export const versionOne: ExecuteVersion = {
  path: '/api/workflows/:id/execute',
  detail: executeDetail,
  modeOf: ({ headers }) => (headers.get('x-execution-mode')?.toLowerCase() === 'async' ? 'async' : 'sync'),
  idempotencyKeyOf,
  read: ({ mode, ...content }) => readExecuteBody({ ...content, isAsync: mode === 'async' }),
  runIdHeader: 'x-execution-id',
  accepted: ({ executionId, at }, headers) => acceptedResponse(executionId, at, headers),
  ended: runResponse,
  stream: streamFormat,
}
