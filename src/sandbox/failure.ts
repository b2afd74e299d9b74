import { messageOf } from '../domain/errors.ts'
import type { ProgramFailureCode } from '../domain/run/program.ts'
import { EngineFull } from './engine.ts'
import { reportSeparator } from './guest.ts'

/** Why a program has no result. The message is for the author of the code. */
export type Failure = { code: ProgramFailureCode; message: string }

export function outcomeOf(failure: Failure, stdout = '') {
  return { ok: false as const, ...failure, stdout }
}

export function timedOut(timeoutMs: number): Failure {
  return { code: 'TIMEOUT', message: `The code ran longer than ${timeoutMs} ms, the most it may take.` }
}

export const cancelled: Failure = { code: 'CANCELLED', message: 'The run was stopped before the code ended.' }

export function memoryExceeded(bytesMax: number): Failure {
  return {
    code: 'MEMORY_EXCEEDED',
    message: `The code needs more than ${megabytes(bytesMax)} of memory, the most it may use.`,
  }
}

export function resultTooLarge(bytesMax: number): Failure {
  return { code: 'RESULT_TOO_LARGE', message: `The result is larger than ${megabytes(bytesMax)} of JSON text.` }
}

export function sandboxFailed(message: string): Failure {
  return codeError(`The sandbox failed, and the code with it: ${message}`)
}

export function overloaded(waitingMax: number): Failure {
  return {
    code: 'TIMEOUT',
    message: `The sandbox is overloaded: ${waitingMax} runs of code are waiting for it. Try again later.`,
  }
}

export function codeError(message: string): Failure {
  return { code: 'CODE_ERROR', message }
}

export const waitsForever = codeError(
  'The code waits for a promise that nothing will settle. The sandbox has no timers and no requests.',
)

/** Reads the guest's report of a thrown value: name, message and stack. Adds the line of the source. */
export function thrown(report: string, source: string, memory: { memoryBytesMax: number; isFull: boolean }): Failure {
  const [name = '', message = '', stack = ''] = report.split(reportSeparator)
  if (isLackOfMemory(name, message, memory.isFull)) return memoryExceeded(memory.memoryBytesMax)
  const line = lineOf(stack, source)
  const shown = message.length > messageLengthMax ? `${message.slice(0, messageLengthMax)}…` : message
  return codeError(`${name === '' ? '' : `${name}: `}${shown}${line === undefined ? '' : ` (line ${line})`}`)
}

function isLackOfMemory(name: string, message: string, isFull: boolean): boolean {
  // Without memory for the error itself the engine throws null.
  if (name !== 'InternalError') return isFull && message === threwNull
  // A string that is too long for the engine is also far larger than its memory.
  return message === 'out of memory' || message === 'string too long'
}

/** The failure for an exception of the engine itself, which traps where it has no error of its own. */
export function engineFailed(trap: unknown, memoryBytesMax: number): Failure {
  if (trap instanceof EngineFull) return memoryExceeded(memoryBytesMax)
  if (trap instanceof RangeError) return codeError('RangeError: Maximum call stack size exceeded')
  return codeError(`The JavaScript engine stopped: ${messageOf(trap)}`)
}

/** How the guest reports `throw null`. */
const threwNull = 'The code threw null'

/** The name of user code in the engine's stack traces. */
export const codeName = 'code'

/** The first line of user code in a stack trace. The code starts on the line after the head of its function. */
function lineOf(stack: string, source: string): number | undefined {
  const place = /\bcode:(\d+)/.exec(stack)
  return place ? Math.min(Math.max(Number(place[1]) - 1, 1), source.split('\n').length) : undefined
}

const messageLengthMax = 10_000

function megabytes(bytes: number): string {
  return `${Math.round((bytes / 1_048_576) * 100) / 100} MB`
}
