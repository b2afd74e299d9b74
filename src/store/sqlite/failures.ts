import { AppError } from '../../domain/errors.ts'

/**
 * What an error says about the disk and the file. `full`, `busy`: rolled back, the handle is good. `io`: the kernel may
 * have dropped pages, the handle must not be used again. `unusable`: damaged, replaced or closed to us.
 */
export type Failure = { kind: 'full' | 'busy' | 'io' | 'unusable'; message: string }

/** Undefined when the storage is not to blame. */
export function failureOf(error: unknown, path: string): Failure | undefined {
  const code = codeOf(error)
  if (code === undefined) return undefined
  const says = `(${code}: ${(error as Error).message})`
  if (code === 'SQLITE_FULL' || code === 'ENOSPC' || code === 'EDQUOT') {
    return {
      kind: 'full',
      message: `The disk that holds ${path} is full ${says}. Free space; the service goes on by itself.`,
    }
  }
  if (code === 'SQLITE_BUSY' || code.startsWith('SQLITE_BUSY_')) {
    return { kind: 'busy', message: `Another process has kept ${path} locked for more than 5 seconds ${says}.` }
  }
  if (code === 'SQLITE_CORRUPT' || code.startsWith('SQLITE_CORRUPT_')) {
    return {
      kind: 'unusable',
      message: `The database ${path} is damaged ${says}. Stop the service and run \`millrace doctor\`: it says how to go back to a backup.`,
    }
  }
  if (code === 'SQLITE_NOTADB') {
    return {
      kind: 'unusable',
      message: `${path} is not a database ${says}. Run \`millrace doctor\`: it says how to go back to a backup; or choose another directory.`,
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

/** Seconds that callers are asked to wait; the writer tries the disk several times a second. */
export const retryAfterS = 1

export function unavailable(message: string, cause?: unknown): AppError {
  return new AppError('STORAGE_UNAVAILABLE', message, { retryAfterS, cause })
}

/** The error of the port, or undefined when the storage is not to blame. */
export function storageError(error: unknown, path: string): AppError | undefined {
  const failure = failureOf(error, path)
  return failure && unavailable(failure.message, error)
}

/** Whether a unique index (the one on `columns`, as SQLite names it) refused a row. */
export function isDuplicate(error: unknown, columns: string): boolean {
  return codeOf(error) === 'SQLITE_CONSTRAINT_UNIQUE' && (error as Error).message.endsWith(columns)
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || error instanceof AppError) return undefined
  const { code } = error as Error & { code?: unknown }
  return typeof code === 'string' ? code : undefined
}
