import { type EntryScope, entryBounds, entryScopes, isPlainText, keyProblem } from '../../../domain/entry/entry.ts'
import { AppError } from '../../../domain/errors.ts'
import { isObject } from '../../../domain/run/input.ts'
import { Parameters } from '../../requests/parameters.ts'

/** The query of every route for entries. `after`: a key. Throws INVALID_PARAMETERS or INVALID_CURSOR. */
export function readEntryQuery(url: string, workspaceId: string) {
  const parameters = new Parameters(url)
  const scope = parameters.oneOf('scope', entryScopes)
  const workflowId = parameters.text('workflowId')
  const prefix = parameters.shortText('prefix', entryBounds.keyCharsMax) ?? ''
  const limit = parameters.whole('limit', 1, entryBounds.listMax) ?? limitDefault
  const cursor = parameters.text('cursor')
  parameters.assertValid()
  if ((scope === 'workflow') !== (workflowId !== undefined) && scope !== undefined) {
    const message = 'scope "workflow" needs workflowId, and scope "workspace" takes none.'
    throw new AppError('INVALID_PARAMETERS', message, { details: [{ path: 'scope', message }] })
  }
  if (!isPlainText(prefix)) {
    const message = 'prefix must not contain control characters or halves of characters.'
    throw new AppError('INVALID_PARAMETERS', message, { details: [{ path: 'prefix', message }] })
  }
  const wanted = { workspaceId, workflowId: workflowId ?? null, prefix }
  return { ...wanted, limit, after: cursor === undefined ? null : readEntryCursor(cursor, wanted) }
}

const limitDefault = 100

type Listed = EntryScope & { prefix: string }

/** An opaque cursor: the last key of a page, and a checksum of its list. */
export function writeEntryCursor(key: string, listed: Listed): string {
  return Buffer.from(JSON.stringify([key, checkSum(key, listed)])).toString('base64url')
}

function readEntryCursor(cursor: string, listed: Listed): string {
  try {
    const read: unknown =
      cursor.length > cursorCharsMax ? undefined : JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (Array.isArray(read) && typeof read[0] === 'string' && writeEntryCursor(read[0], listed) === cursor) {
      return read[0]
    }
  } catch {
    // Not a cursor.
  }
  const message = 'This cursor does not belong to this list. Keep its filters as they were, or start without a cursor.'
  throw new AppError('INVALID_CURSOR', message)
}

const cursorCharsMax = 4_096

/** Needs no secret: a cursor reaches only what its caller may read. The checksum only detects mistakes. */
function checkSum(key: string, { workspaceId, workflowId, prefix }: Listed): string {
  const text = JSON.stringify([key, workspaceId, workflowId, prefix])
  return new Bun.CryptoHasher('sha256').update(text).digest('hex').slice(0, 16)
}

/** The body of a request that sets an entry. Throws INVALID_INPUT. */
export function readNewEntry(body: unknown): { value: unknown; ttlMs: number | undefined } {
  const { value, ttlMs } = isObject(body) ? body : {}
  if (value === undefined) throw invalid('value', 'value must be given. It may be any JSON.')
  if (ttlMs !== undefined && !isTtl(ttlMs)) {
    throw invalid('ttlMs', `ttlMs must be a whole number from 1 to ${entryBounds.ttlMsMax}.`)
  }
  return { value, ttlMs: ttlMs as number | undefined }
}

function isTtl(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= entryBounds.ttlMsMax
}

/** Throws INVALID_INPUT for a key that no entry can have. */
export function assertKey(key: string): void {
  const problem = keyProblem(key)
  if (problem) throw invalid('key', `The key ${problem}.`)
}

export function invalid(path: string, message: string): AppError {
  return new AppError('INVALID_INPUT', message, { details: [{ path, message }] })
}
