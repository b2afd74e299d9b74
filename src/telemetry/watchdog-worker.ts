import { dlopen } from 'bun:ffi'
import { writeSync } from 'node:fs'
import { stuckExitCode, type WatchdogStart, watchdogCells } from './watchdog-memory.ts'

/** The watchdog's thread. It must not depend on the main thread. */
declare const self: Worker

self.onmessage = ({ data: { shared, tickMs, ticks } }: MessageEvent<WatchdogStart>) => {
  const cells = new Int32Array(shared, 0, 2)
  let beats = -1
  let missed = 0
  setInterval(() => {
    const latest = Atomics.load(cells, watchdogCells.beats)
    missed = latest === beats ? missed + 1 : 0
    beats = latest
    if (missed < ticks) return
    const bytes = Buffer.from(shared, watchdogCells.note, cells[watchdogCells.noteBytes])
    endProcess({ stuckMs: missed * tickMs, lastStarted: bytes.toString() || null })
  }, tickMs)
}

function endProcess(facts: { stuckMs: number; lastStarted: string | null }): void {
  const message = 'the main thread is stuck, so the process ends'
  try {
    writeSync(2, `${JSON.stringify({ time: new Date().toISOString(), level: 'error', message, ...facts })}\n`)
  } finally {
    exitNow(stuckExitCode)
  }
}

/** In a worker, `process.exit` ends only the worker. */
function exitNow(code: number): void {
  try {
    dlopen(process.platform === 'darwin' ? 'libSystem.B.dylib' : 'libc.so.6', {
      _exit: { args: ['i32'], returns: 'void' },
    }).symbols._exit(code)
  } finally {
    process.kill(process.pid, 'SIGKILL')
  }
}
