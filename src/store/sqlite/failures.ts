import { AppError } from '../../domain/errors.ts'

/**
 * The meaning of an error for the disk and the file. `full`, `busy`: rolled back, the handle is good. `io`: the kernel
 * may have dropped pages, so the handle must not be used again. `unusable`: the file is damaged, replaced or not
 * accessible.
 */
export type Failure = { kind: 'full' | 'busy' | 'io' | 'unusable'; message: string }

/** Undefined when the storage did not cause the error. */
export function failureOf(error: unknown, path: string): Failure | undefined {
  const code = codeOf(error)
  if (code === undefined) return undefined
  const says = `(${code}: ${(error as Error).message})`
  if (code === 'SQLITE_FULL' || code === 'ENOSPC' || code === 'EDQUOT') {
    return {
      kind: 'full',
      message: `The disk that holds ${path} is full ${says}. Free space; the service continues by itself.`,
    }
  }
  if (code === 'SQLITE_BUSY' || code.startsWith('SQLITE_BUSY_')) {
    return { kind: 'busy', message: `Another process has kept ${path} locked for more than 5 seconds ${says}.` }
  }
  if (code === 'SQLITE_CORRUPT' || code.startsWith('SQLITE_CORRUPT_')) {
    return {
      kind: 'unusable',
      message: `The database ${path} is damaged ${says}. Stop the service and run \`millrace doctor\`: it explains how to restore a backup.`,
    }
  }
  if (code === 'SQLITE_NOTADB') {
    return {
      kind: 'unusable',
      message: `${path} is not a database ${says}. Run \`millrace doctor\`: it explains how to restore a backup; or choose another directory.`,
    }
  }
  if (code === 'SQLITE_READONLY' || code.startsWith('SQLITE_READONLY_')) {
    return {
      kind: 'unusable',
      message: `${path} cannot be written ${says}. Check the owner and the mode of the directory.`,
    }
  }
  if (code.startsWith('SQLITE_CANTOPEN') || code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return {
      kind: 'unusable',
      message: `${path} cannot be opened ${says}. Check the owner and the mode of the directory.`,
    }
  }
  if (code.startsWith('SQLITE_IOERR') || code === 'EIO') {
    return { kind: 'io', message: `The disk that holds ${path} reports errors ${says}. Check the disk.` }
  }
  return undefined
}

/** Seconds that callers are asked to wait. The writer retries the disk several times a second. */
export const retryAfterS = 1

export function unavailable(message: string, cause?: unknown): AppError {
  return new AppError('STORAGE_UNAVAILABLE', message, { retryAfterS, cause })
}

/** The error that callers of the store get; undefined when the storage did not cause it. */
export function storageError(error: unknown, path: string): AppError | undefined {
  const failure = failureOf(error, path)
  return failure && unavailable(failure.message, error)
}

/** Whether the unique index on `columns` (as SQLite names them) refused a row. */
export function isDuplicate(error: unknown, columns: string): boolean {
  return codeOf(error) === 'SQLITE_CONSTRAINT_UNIQUE' && (error as Error).message.endsWith(columns)
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || error instanceof AppError) return undefined
  const { code } = error as Error & { code?: unknown }
  return typeof code === 'string' ? code : undefined
}
