import { type Clock, sleep } from '../../domain/clock.ts'
import { eventStreamHeaders } from './event-stream.ts'

export type LaterStreamOptions = {
  clock: Clock
  /** Aborts when the reader has left. */
  signal: AbortSignal
  headers: Record<string, string>
  /** The events, as a response with a stream; undefined while nobody has them. A rejection counts as undefined. */
  next(): Promise<Response | undefined>
}

/**
 * Server-sent events that will come from a process which is not known yet: the stream stays open, and asks every second
 * until there are events.
 */
export function laterStream({ headers, ...options }: LaterStreamOptions): Response {
  // Bun holds an iterator back when the reader is slow.
  const body = eventsOf(options) as unknown as ReadableStream
  return new Response(body, { headers: { ...headers, ...eventStreamHeaders } })
}

async function* eventsOf({ clock, signal, next }: Omit<LaterStreamOptions, 'headers'>): AsyncGenerator<Uint8Array> {
  while (!signal.aborted) {
    const response = await next().catch(() => undefined)
    if (response?.body) {
      yield* response.body
      return
    }
    yield waiting
    await sleep(clock, askEveryMs, signal).catch(() => undefined)
  }
}

/** A comment, which keeps the connection open. */
const waiting = new TextEncoder().encode(': waiting\n\n')
const askEveryMs = 1_000
