import { AppError, messageOf } from '../../domain/errors.ts'
import type { RetentionBounds } from '../store.ts'
import type { JournalSource } from './executor.ts'
import type { JournalRecord } from './journal-file.ts'
import type { OpenOptions } from './open.ts'
import type { OperationName } from './operations.ts'

// What goes between the service's thread and a storage thread.

/**
 * A group of log rows comes as a string, its id in front of the first line break; so do records of the journal, of which nobody
 * hears (`tellRecords`): strings cross without a copy.
 */
export type Request =
  | string
  | { open: OpenOptions; yields: boolean; journal: JournalSource | undefined }
  | { copy: { from: string; to: string } }
  | { id: number; summarise: string | undefined }
  | { id: number; control: 'probe' | 'pack' | 'checkpoint' | 'distrust' | 'takeIn' | 'takeInFlushed' | 'close' }
  | { id: number; beginJournal: number }
  | { id: number; operation: OperationName; args: unknown[] }
  /** As `encodeAttempts` has them. */
  | { id: number; attempts: string }
  | { id: number; retain: RetentionBounds }

/** Records of the journal that follow one another, from a position on. */
export function tellRecords(first: number, texts: readonly string[]): string {
  return `${recordsMark}${first} ${texts.map((text) => text.length).join(' ')}\n${texts.join('')}`
}

/** Undefined for a string that is something else. */
export function toldRecords(message: string): JournalRecord[] | undefined {
  if (!message.startsWith(recordsMark)) return undefined
  let at = message.indexOf('\n') + 1
  const [first = 0, ...lengths] = message.slice(recordsMark.length, at).split(' ').map(Number)
  return lengths.map((length, index) => {
    at += length
    return { position: first + index, text: message.slice(at - length, at) }
  })
}

const recordsMark = 'R'

/** A bare id: done, no value. */
export type Reply = number | { id: number; value: unknown } | { id: number; error: PlainError }

/** What is left of an error between threads. */
export type PlainError = {
  app: { code: AppError['code']; details: AppError['details']; retryAfterS: number | undefined } | null
  message: string
  stack: string | undefined
}

/** The id under which the answer to `open` or `copy` comes. */
export const openId = 0

export function plainErrorOf(thrown: unknown): PlainError {
  const app =
    thrown instanceof AppError ? { code: thrown.code, details: thrown.details, retryAfterS: thrown.retryAfterS } : null
  return { app, message: messageOf(thrown), stack: thrown instanceof Error ? thrown.stack : undefined }
}

export function errorOf({ app, message, stack }: PlainError): Error {
  if (app) {
    const { code, details, retryAfterS } = app
    return new AppError(code, message, {
      ...(details && { details }),
      ...(retryAfterS !== undefined && { retryAfterS }),
      cause: stack,
    })
  }
  const error = new Error(message)
  if (stack !== undefined) error.stack = stack
  return error
}
