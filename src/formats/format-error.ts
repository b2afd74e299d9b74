import type { FormatFailureCode } from '../domain/format/format-work.ts'

/** Why an operation has no result. The message is for the author of the workflow. */
export class FormatError extends Error {
  readonly code: FormatFailureCode

  constructor(code: FormatFailureCode, message: string) {
    super(message)
    this.name = 'FormatError'
    this.code = code
  }
}

export function invalidDocument(message: string): FormatError {
  return new FormatError('INVALID_DOCUMENT', message)
}

export function documentTooLarge(message: string): FormatError {
  return new FormatError('DOCUMENT_TOO_LARGE', message)
}

export function invalidOption(name: string, message: string): FormatError {
  return new FormatError('INVALID_PARAMETER', `The option "${name}" ${message}`)
}
