import type { Clock } from '../domain/clock.ts'
import type { AppError } from '../domain/errors.ts'
import type { Span } from '../domain/run/log.ts'
import { type BlockPlace, observers, type RunObserver } from '../domain/run/run-observer.ts'
import type { RunEnd, RunRequest } from '../engine/run/runner.ts'
import { toAppError } from './errors.ts'
import { EventStream, eventStreamHeaders } from './event-stream.ts'
import { RunEvents } from './run-events.ts'
import { codeOf } from './run-response.ts'
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
  /** Told when a run whose response had begun could not be recorded. */
  lost(error: AppError, executionId: string): void
}

/**
 * Runs a workflow and responds with what happens in it, as server-sent events: chunks, one `done` in every outcome, and
 * the terminator. Rejects, before anything was sent, when the run fails before its first block behind the trigger.
 */
export async function streamRun(options: RunStreamOptions): Promise<Response> {
  const stream = new RunStream(options)
  await stream.begin(options)
  return new Response(stream.body as unknown as ReadableStream, {
    headers: { ...options.headers, ...eventStreamHeaders },
  })
}

/** One run and its reader. Of the options it keeps what the end needs: thousands of these may be under way. */
class RunStream implements RunObserver {
  readonly #stream: EventStream
  readonly #events: RunEvents
  readonly #executionId: string
  readonly #triggerId: string | undefined
  readonly #more: RunStreamOptions['more']
  readonly #lost: RunStreamOptions['lost']
  /** Undefined when the response has begun. Here, and not when it leaves: a run may fail in between, and its stream has to say so. */
  #begun: PromiseWithResolvers<void> | undefined

  constructor({ request, selected, clock, bytesWaitingMax, disconnect, more, lost }: RunStreamOptions) {
    const { plan, trigger, executionId } = request
    this.#stream = new EventStream({ clock, bytesWaitingMax, onOverflow: disconnect })
    this.#events = new RunEvents(plan, selected, (message) => this.#stream.message(message))
    this.#executionId = executionId ?? ''
    this.#triggerId = plan.triggers.get(trigger)?.node.id
    this.#more = more
    this.#lost = lost
  }

  /** Resolves when the response begins. Rejects when there is none to begin: the run has failed before. */
  begin({ request, execute, callerSignal }: RunStreamOptions): Promise<void> {
    const begun = Promise.withResolvers<void>()
    this.#begun = begun
    const observer = request.observer ? observers(request.observer, this) : this
    // A caller too slow to read is not one that left: its connection is closed, and the run goes on.
    const goesOnAlone = () => this.#stream.isOverflown
    const running = execute({ ...request, observer, callerSignal: () => callerSignal, goesOnAlone })
    running.then((end) => this.#finish(end)).catch((thrown: unknown) => this.#break(thrown))
    return begun.promise
  }

  get body(): AsyncIterable<string> {
    return this.#stream
  }

  started({ blockId }: Span): void {
    if (blockId !== null && blockId !== this.#triggerId) this.#respond()
  }

  ended(span: Span, place: BlockPlace): void {
    this.#events.ended(span, place)
  }

  chunk(span: Span, text: string, place: BlockPlace): void {
    this.#events.chunk(span, text, place)
  }

  #respond(): void {
    this.#begun?.resolve()
    this.#begun = undefined
  }

  async #finish(end: RunEnd): Promise<void> {
    this.#close(doneOf(end, this.#events, await this.#more?.(end)))
  }

  #break(thrown: unknown): void {
    if (this.#begun) {
      this.#stream.end()
      this.#begun.reject(thrown)
      return
    }
    const error = toAppError(thrown)
    this.#lost(error, this.#executionId)
    this.#close(lostOf(error))
  }

  #close(done: string): void {
    this.#stream.end(done, '[DONE]')
    this.#respond()
  }
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
