import { AppError } from '../../../domain/errors.ts'
import type { RunState } from '../../../domain/run/run-state.ts'
import { endedReply } from '../../../domain/workflow/chat.ts'
import type { Plan } from '../../../engine/compile/plan.ts'
import { addressOf, type ServerPort } from '../../access/connection.ts'
import { assertAllowed } from '../../access/rate-headers.ts'
import type { ChatServices } from '../../run-services.ts'

export type LateReplyCall = {
  services: ChatServices
  request: Request
  server: ServerPort | null
  plan: Plan
  workflow: { workflowId: string }
  executionId: string
  /** Set when the sender must not learn why a run failed. */
  sorry: string | undefined
}

/** `reply` and `error`: null until the run has ended. */
export type LateReply = { status: RunState['status']; reply: string | null; error: string | null }

/**
 * The reply of a chat run that has paused, for the sender of its message: only the sender knows the ID of the run.
 * Throws NOT_FOUND, or RATE_LIMIT_EXCEEDED after too many wrong IDs.
 */
export async function lateReplyOf({
  services,
  request,
  server,
  plan,
  workflow,
  ...call
}: LateReplyCall): Promise<LateReply> {
  const { limits, clock } = services
  const run = await services.findRun(call.executionId)
  // The output of its other triggers is not for those who may talk in the chat.
  if (run?.workflowId !== workflow.workflowId || (run.trigger ?? 'chat') !== 'chat') {
    assertAllowed(limits.takeRefused(addressOf(request, server)), clock.now())
    throw new AppError('NOT_FOUND', 'There is no such run, or its log entry was deleted.')
  }
  const { status, output, error } = run
  if (error !== undefined) return { status, reply: null, error: call.sorry ?? error }
  if (output === undefined) return { status, reply: null, error: null }
  return { status, reply: replyIn(output, plan), error: null }
}

/** `output`: JSON. */
function replyIn(output: string, plan: Plan): string {
  if (output.length > outputCharsMax) return 'The reply is too long to be shown here.'
  return endedReply(plan.document, JSON.parse(output))
}

/** Limited, because parsing a longer text would delay other requests. */
const outputCharsMax = 1_000_000
