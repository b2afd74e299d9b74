import type { Clock, Timer } from '../../domain/clock.ts'
import type { Watcher } from '../../events/bus.ts'
import { droppedText } from '../../events/live-text.ts'
import { EventStream, eventStreamHeaders } from './event-stream.ts'

export type LiveStreamOptions = {
  clock: Clock
  /** Aborts when the reader has left. */
  signal: AbortSignal
  /** Starts watching. Returns a function that stops it; undefined when there is nothing to watch. */
  watch(watcher: Watcher): (() => void) | undefined
  headers: Record<string, string>
  /** Whether the reader may still see the run. Asked every few seconds; a rejection counts as yes. */
  mayWatch(): Promise<boolean>
}

/**
 * Streams the events of a run in flight as server-sent events, ended by `[DONE]`. Undefined when the run is not in
 * flight. A reader that is too slow gets a last message that says so; the run continues. The stream of a reader whose
 * session or role has ended breaks off within seconds.
 */
export function liveStream(options: LiveStreamOptions): Response | undefined {
  const { clock, signal, watch, headers, mayWatch } = options
  let leave: (() => void) | undefined
  let checking: Timer | undefined
  const farewell = droppedText
  const stream = new EventStream({ clock, bytesWaitingMax, messagesWaitingMax, farewell, onOverflow: () => leave?.() })
  const watcher: Watcher = {
    message: (text) => stream.message(text),
    end: () => {
      checking?.cancel()
      stream.end('[DONE]')
    },
  }
  const checkLater = () => {
    checking = clock.setTimer(checkMs, () => {
      mayWatch()
        .catch(() => true)
        .then((may) => {
          if (!may) leave?.()
          if (!may) stream.end()
          else if (stream.isOpen && !signal.aborted) checkLater()
        })
    })
  }
  let stopWatching: (() => void) | undefined
  try {
    stopWatching = watch(watcher)
  } finally {
    if (!stopWatching) stream.end()
  }
  if (!stopWatching) return undefined
  leave = () => {
    checking?.cancel()
    stopWatching()
  }
  if (stream.isOpen) checkLater()
  if (stream.isOverflown || signal.aborted) leave()
  signal.addEventListener('abort', leave, { once: true })
  return responseOf(stream, headers)
}

/** The same for a run that has ended. */
export function pastStream(messages: readonly string[], clock: Clock, headers: Record<string, string>): Response {
  const stream = new EventStream({ clock, bytesWaitingMax: Number.POSITIVE_INFINITY, onOverflow: () => undefined })
  for (const message of messages) stream.message(message)
  stream.end('[DONE]')
  return responseOf(stream, headers)
}

/** Sessions and roles are cached for some seconds more when another process changes them. */
const checkMs = 2_000

/** Limits on what waits for a slow reader. The events so far are always fewer. */
const messagesWaitingMax = 1_024
const bytesWaitingMax = 8_388_608

function responseOf(stream: EventStream, headers: Record<string, string>): Response {
  return new Response(stream as unknown as ReadableStream, { headers: { ...headers, ...eventStreamHeaders } })
}
