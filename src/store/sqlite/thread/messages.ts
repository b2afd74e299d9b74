import { AppError, messageOf } from '../../../domain/errors.ts'
import type { RetentionBounds } from '../../store.ts'
import type { JournalImporter } from '../legacy-journal/import.ts'
import type { OpenOptions } from '../open.ts'
import type { PackedMembers } from './large-replies.ts'
import type { PackedWrite } from './large-writes.ts'
import type { OperationName } from './operations.ts'

// The messages between the service's thread and a storage thread. All are plain data: they cross by structured clone,
// except the buffers of large writes and results.

export type Request =
  | { open: OpenOptions; lowPriority: boolean; legacyJournal: JournalImporter | undefined }
  | { copy: { from: string; to: string } }
  | { id: number; summarise: string | undefined }
  | { id: number; control: 'probe' | 'compact' | 'checkpoint' | 'markUnhealthy' | 'close' }
  | { id: number; operation: OperationName; args: unknown[] }
  | { id: number; append: PackedWrite }
  | { id: number; retain: RetentionBounds }

/** `packed`: long members of the value. */
export type Reply = { id: number; value: unknown; packed?: PackedMembers } | { id: number; error: PlainError }

/** The parts of an error that cross between threads. */
export type PlainError = {
  app: { code: AppError['code']; details: AppError['details']; retryAfterS: number | undefined } | null
  message: string
  stack: string | undefined
}

/** The id of the reply to `open` or `copy`. */
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
