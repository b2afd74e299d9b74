import type { Clock } from '../../domain/clock.ts'
import type { AppError } from '../../domain/errors.ts'
import type { Span } from '../../domain/run/log.ts'
import { type AgentEvent, type BlockPlace, observers, type RunObserver } from '../../domain/run/run-observer.ts'
import { type InSlices, isLargeValue, jsonInSlices, type Slices } from '../../domain/slices.ts'
import type { RunEnd } from '../../engine/run/run-end.ts'
import type { RunRequest } from '../../engine/run/run-request.ts'
import { toAppError } from '../errors.ts'
import { type AgentEvents, agentEventsHeader, agentEventsProtocol } from '../requests/agent-events.ts'
import type { SelectedOutput } from '../requests/selected-outputs.ts'
import { EventStream, eventStreamHeaders } from './event-stream.ts'
import { RunEvents } from './run-events.ts'
import { type StreamFormat, streamFormat } from './stream-format.ts'

export type RunStreamOptions = {
  request: RunRequest
  selected: readonly SelectedOutput[]
  execute(request: RunRequest): Promise<RunEnd>
  /** Writes large messages. */
  inSlices: InSlices
  clock: Clock
  /** Aborts when the caller disconnects; undefined when the run continues without its caller. */
  callerSignal: AbortSignal | undefined
  bytesWaitingMax: number
  /** Closes the connection of a caller that does not read. */
  disconnect(): void
  headers: Record<string, string>
  /** The messages about agents that the caller wants; undefined for a caller that does not know them. */
  agentEvents?: AgentEvents | undefined
  /** The last messages; those of the execute endpoint when absent. */
  format?: StreamFormat
  /** Further members of the `done` message, which waits for them. Must not reject. */
  more?(end: RunEnd): Promise<Record<string, unknown>>
  /** Called when a run could not be recorded after its response had started. */
  lost(error: AppError, executionId: string): void
}

/**
 * Runs a workflow and responds with server-sent events: chunks, one `done` whatever the outcome, and the terminator.
 * Rejects, before anything is sent, when the run fails before the first block after the trigger.
 */
export async function streamRun(options: RunStreamOptions): Promise<Response> {
  const stream = new RunStream(options)
  await stream.begin(options)
  const protocol = options.agentEvents && { [agentEventsHeader.toLowerCase()]: agentEventsProtocol }
  return new Response(stream.body as unknown as ReadableStream, {
    headers: { ...options.headers, ...eventStreamHeaders, ...protocol },
  })
}

/** One run and its reader. It keeps few of the options, because there may be thousands of streams. */
class RunStream implements RunObserver {
  readonly #stream: EventStream
  readonly #events: RunEvents
  readonly #inSlices: InSlices
  /** Set while a large message is being written. Later messages wait for it. */
  #writing: Promise<void> | undefined
  readonly #executionId: string
  readonly #triggerId: string | undefined
  readonly #format: StreamFormat
  readonly #more: RunStreamOptions['more']
  readonly #lost: RunStreamOptions['lost']
  /** Undefined once the response has started. From then on a failure is reported inside the stream. */
  #begun: PromiseWithResolvers<void> | undefined

  constructor(options: RunStreamOptions) {
    const { request, selected, inSlices, clock, bytesWaitingMax, disconnect, format, agentEvents, more, lost } = options
    const { plan, trigger, executionId } = request
    this.#stream = new EventStream({ clock, bytesWaitingMax, onOverflow: disconnect })
    const send = (message: string | Slices<string>) => this.#send(message)
    this.#events = new RunEvents(plan, selected, send, send, agentEvents)
    this.#inSlices = inSlices
    this.#executionId = executionId ?? ''
    this.#triggerId = plan.triggers.get(trigger)?.node.id
    this.#format = format ?? streamFormat
    this.#more = more
    this.#lost = lost
  }

  /** Resolves when the response starts. Rejects when the run fails before that. */
  begin({ request, execute, callerSignal }: RunStreamOptions): Promise<void> {
    const begun = Promise.withResolvers<void>()
    this.#begun = begun
    const observer = request.observer ? observers(request.observer, this) : this
    // A caller that is too slow loses its connection, but the run continues.
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

  agent(span: Span, event: AgentEvent, place: BlockPlace): void {
    this.#events.agent(span, event, place)
  }

  #send(message: string | Slices<string>): void {
    if (typeof message === 'string' && !this.#writing) this.#stream.message(message)
    else this.#writing = this.#sendLater(message, this.#writing)
  }

  async #sendLater(message: string | Slices<string>, before: Promise<void> | undefined): Promise<void> {
    await before
    this.#stream.message(typeof message === 'string' ? message : await this.#inSlices(message))
  }

  #respond(): void {
    this.#begun?.resolve()
    this.#begun = undefined
  }

  async #finish(end: RunEnd): Promise<void> {
    await this.#writing
    const done = end.suspension
      ? this.#format.paused(end, this.#events)
      : this.#format.ended(end, this.#events, await this.#more?.(end))
    this.#close(isLargeValue(done) ? await this.#inSlices(textOf(done)) : JSON.stringify(done))
  }

  #break(thrown: unknown): void {
    if (this.#begun) {
      this.#stream.end()
      this.#begun.reject(thrown)
      return
    }
    const error = toAppError(thrown)
    this.#lost(error, this.#executionId)
    this.#close(JSON.stringify(this.#format.lost(error)))
  }

  #close(done: string): void {
    this.#stream.end(done, this.#format.terminator)
    this.#respond()
  }
}

function* textOf(message: object): Slices<string> {
  return (yield* jsonInSlices(message)) as string
}
