import type { AppError } from '../../domain/errors.ts'
import type { RunEnd } from '../../engine/run/run-end.ts'
import { pausedFacts } from '../responses/pauses/paused-response.ts'
import { failureFacts } from '../responses/run-response.ts'
import type { RunEvents } from './run-events.ts'

/** The messages at the end of a streamed run. */
export type StreamFormat = {
  ended(end: RunEnd, events: RunEvents, more: Record<string, unknown> | undefined): object
  paused(end: RunEnd, events: RunEvents): object
  /** The run could not be recorded. */
  lost(error: AppError): object
  /** Follows the last message. */
  terminator: string
}

export const streamFormat: StreamFormat = {
  ended({ record }, events, more) {
    const { failure, output, durationMs } = record
    const facts = failure && failureFacts(failure, record)
    return {
      event: 'done',
      success: failure === null,
      output: events.outputs() ?? output ?? null,
      metadata: { duration: durationMs },
      ...(facts && { error: facts.error, code: facts.code }),
      ...more,
    }
  },
  paused: (end) => ({ event: 'paused', ...pausedFacts(end) }),
  lost: ({ message, code }) => {
    return { event: 'done', success: false, output: null, metadata: { duration: 0 }, error: message, code }
  },
  terminator: '[DONE]',
}
