import { AppError } from '../../domain/errors.ts'

/** The header that names a revision of a document. */
export function etagOf({ revision }: { revision: number }): string {
  return `"${revision}"`
}

/** Refuses a change that was based on another revision of the document. */
export function assertRevision(headers: Headers, revision: number): void {
  const expected = revisionIn(headers)
  if (expected === undefined || expected === revision) return
  const message =
    `The workflow was saved after revision ${expected}, which this request is based on. ` +
    `Load revision ${revision} and repeat the request.`
  throw new AppError('CONFLICT', message, { details: [{ path: 'revision', message }] })
}

/** The revision that a change is based on, from `If-Match`; undefined when the request has none. */
export function revisionIn(headers: Headers): number | undefined {
  const text = headers.get('if-match')?.trim()
  if (text === undefined || text === '' || text === '*') return undefined
  // A compressing proxy turns it into a weak ETag.
  const digits = /^(?:W\/)?"?(\d{1,15})"?$/.exec(text)?.[1]
  if (digits !== undefined) return Number(digits)
  const message = 'If-Match must be the ETag of the document, such as "7", or its revision.'
  throw new AppError('INVALID_PARAMETERS', message, { details: [{ path: 'If-Match', message }] })
}
