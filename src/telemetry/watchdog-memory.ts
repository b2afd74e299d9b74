/** The memory that the main thread shares with the watchdog's thread, and the message that starts this thread. */
export type WatchdogStart = {
  shared: SharedArrayBuffer
  /** How often the main thread counts, and the watchdog's thread looks. */
  tickMs: number
  /** Ticks without progress after which the main thread is stuck. */
  ticks: number
}

/** Indexes of the 32-bit cells, and the byte at which the note starts. */
export const watchdogCells = { beats: 0, noteBytes: 1, note: 8 } as const

export const noteBytesMax = 512

/** The exit code of a process that the watchdog ended. */
export const stuckExitCode = 70
