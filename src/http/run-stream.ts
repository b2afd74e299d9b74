import type { Clock } from '../domain/clock.ts'
import type { AppError } from '../domain/errors.ts'
import { observers, type RunObserver } from '../domain/run-observer.ts'
import type { RunEnd, RunRequest } from '../engine/runner.ts'
import { toAppError } from './errors.ts'
import { EventStream, eventStreamHeaders } from './event-stream.ts'
import { codeOf } from './run-answer.ts'
import { RunEvents } from './run-events.ts'
import type { SelectedOutput } from './selected-outputs.ts'

export type RunStreamOptions = {
  request: RunRequest
  selected: readonly SelectedOutput[]
  execute(request: RunRequest): Promise<RunEnd>
  clock: Clock
  /** Aborts when the caller has left; undefined when a run goes on without its caller. */
  callerSignal: AbortSignal | undefined
  bytesWaitingMax: number
  /** Closes the connection of a caller who does not read. */
  disconnect(): void
  headers: Record<string, string>
  /** More members of the `done` message; what it waits for comes before that. Must not reject. */
  more?(end: RunEnd): Promise<Record<string, unknown>>
  /** Told when a run whose answer had begun could not be recorded. */
  lost(error: AppError, executionId: string): void
}

/**
 * Runs a workflow and answers with what happens in it, as server-sent events: chunks, one `done` in every outcome, and
 * the terminator. Rejects, before anything was sent, when the run fails before its first block behind the trigger.
 */
export async function streamRun(options: RunStreamOptions): Promise<Response> {
  const { request, selected, execute, clock, callerSignal, bytesWaitingMax, disconnect, headers, lost, more } = options
  const caller = new AbortController()
  const stream = new EventStream({ clock, bytesWaitingMax, onOverflow: disconnect })
  // A caller too slow to read is not one that left: its connection is closed, and the run goes on.
  callerSignal?.addEventListener('abort', () => stream.isOverflown || caller.abort(), { once: true })
  const events = new RunEvents(request.plan, selected, (message) => stream.message(message))
  const begun = Promise.withResolvers<void>()
  let answered = false
  const begin = () => {
    // Here, and not when the answer leaves: a run may fail in between, and then its stream has to say so.
    answered = true
    begun.resolve()
  }
  const observer: RunObserver = {
    started: (span) => (span.blockId === null || isTrigger(request, span.blockId) ? undefined : begin()),
    ended: (span, place) => events.ended(span, place),
    chunk: (span, text, place) => events.chunk(span, text, place),
  }
  const all = request.observer ? observers(request.observer, observer) : observer
  const running = execute({ ...request, observer: all, callerSignal: () => caller.signal })
  const finished = running.then(
    async (end) => {
      stream.message(doneOf(end, events, await more?.(end)))
    },
    (thrown: unknown) => {
      if (!answered) {
        stream.end()
        throw thrown
      }
      const error = toAppError(thrown)
      stream.message(lostOf(error))
      lost(error, request.executionId ?? '')
    },
  )
  const closed = finished.then(() => {
    stream.message('[DONE]')
    stream.end()
  })
  await Promise.race([begun.promise, closed])
  return new Response(stream.body() as unknown as ReadableStream, {
    headers: { ...headers, ...eventStreamHeaders },
  })
}

function doneOf({ record }: RunEnd, events: RunEvents, more: Record<string, unknown> | undefined): string {
  const { failure, output, durationMs } = record
  return JSON.stringify({
    event: 'done',
    success: failure === null,
    output: events.outputs() ?? output ?? null,
    metadata: { duration: durationMs },
    ...(failure && { error: failure.message, code: codeOf(failure) }),
    ...more,
  })
}

/** Of a run that could not be recorded. */
function lostOf({ message, code }: AppError): string {
  return JSON.stringify({
    event: 'done',
    success: false,
    output: null,
    metadata: { duration: 0 },
    error: message,
    code,
  })
}

function isTrigger({ plan, trigger }: RunRequest, blockId: string): boolean {
  return plan.triggers.get(trigger)?.node.id === blockId
}
