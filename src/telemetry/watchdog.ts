import { noteBytesMax, type WatchdogStart, watchdogCells } from './watchdog-memory.ts'

/**
 * Ends the process when its main thread is stuck: when the event loop has not turned for `limitMs`. A thread of its own
 * watches a counter that the main thread increments on a timer. It counts its own ticks and not the time, so that a
 * process that was suspended continues. A stuck thread does not receive signals either, so this is also the limit for a
 * stop signal.
 */
export class Watchdog {
  readonly #tickMs: number
  readonly #shared = new SharedArrayBuffer(watchdogCells.note + noteBytesMax)
  readonly #cells = new Int32Array(this.#shared, 0, 2)
  readonly #note = Buffer.from(this.#shared, watchdogCells.note)
  #worker: Worker | undefined
  #timer: ReturnType<typeof setInterval> | undefined

  constructor(limitMs: number) {
    this.#tickMs = Math.max(1, Math.round(limitMs / ticks))
  }

  start(): void {
    const file = import.meta.url.includes('/$bunfs/') ? './telemetry/watchdog-worker.js' : './watchdog-worker.ts'
    this.#worker = new Worker(new URL(file, import.meta.url).href, { smol: true })
    this.#worker.postMessage({ shared: this.#shared, tickMs: this.#tickMs, ticks } satisfies WatchdogStart)
    this.#timer = setInterval(() => Atomics.add(this.#cells, watchdogCells.beats, 1), this.#tickMs)
    this.#timer.unref()
  }

  /** Remembers what the main thread begins now, for the log line about a stuck one. Takes about 0.1 µs. */
  readonly note = (text: string): void => {
    this.#cells[watchdogCells.noteBytes] = this.#note.write(text)
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#worker?.terminate()
  }
}

const ticks = 30

/** The delay after the start, so that the first requests do not compete with it. */
export const watchAfterMs = 200
