import { AppError } from '../domain/errors.ts'

/** The header that names a revision of a document. */
export function etagOf({ revision }: { revision: number }): string {
  return `"${revision}"`
}

/** Refuses a step that was decided on while the document was another. */
export function assertRevision(headers: Headers, revision: number): void {
  const expected = revisionIn(headers)
  if (expected === undefined || expected === revision) return
  const message = `The workflow was saved in the meantime: this is made from revision ${expected}, and now there is ${revision}.`
  throw new AppError('CONFLICT', message, { details: [{ path: 'revision', message }] })
}

/** The revision that a change is made from, when the request says so in `If-Match`; undefined for any. */
export function revisionIn(headers: Headers): number | undefined {
  const text = headers.get('if-match')?.trim()
  if (text === undefined || text === '' || text === '*') return undefined
  // A proxy that compresses makes it a weak one.
  const digits = /^(?:W\/)?"?(\d{1,15})"?$/.exec(text)?.[1]
  if (digits !== undefined) return Number(digits)
  const message = 'If-Match must be the ETag of the document, such as "7", or its revision.'
  throw new AppError('INVALID_PARAMETERS', message, { details: [{ path: 'If-Match', message }] })
}
