import { sameValue } from '../edits/same-value.ts'
import type { EntryChange, EntryFailure, EntryOutcome } from './entry.ts'

/** An entry that has not expired. */
export type LiveEntry = { value: string; expiresAt: number | null }

/** `next`: the entry after the change; null: deleted, undefined: as before. */
export type AppliedChange = { outcome: EntryOutcome; next?: LiveEntry | null }

/** The rules of every change, for all stores. */
export function applyChange(entry: LiveEntry | undefined, change: EntryChange): AppliedChange {
  const found = entry !== undefined
  switch (change.type) {
    case 'set':
      return written(found, change)
    case 'delete':
      if (!found) return unchanged(undefined)
      return { outcome: { ok: true, found, changed: true, value: null }, next: null }
    case 'add_if_absent':
      return found ? unchanged(entry) : written(found, change)
    case 'compare_and_set':
      return isExpected(entry, change.expected) ? written(found, change) : unchanged(entry)
    case 'increment':
      return incremented(entry, change)
  }
}

function incremented(entry: LiveEntry | undefined, change: Extract<EntryChange, { type: 'increment' }>): AppliedChange {
  const before: unknown = entry ? JSON.parse(entry.value) : 0
  if (typeof before !== 'number') {
    return { outcome: failure('NOT_A_NUMBER', 'The entry cannot be incremented, because its value is not a number.') }
  }
  const sum = before + change.by
  if (!Number.isFinite(sum) || Math.abs(sum) > Number.MAX_SAFE_INTEGER) {
    const message = `The entry cannot be incremented by ${change.by}: the number would no longer be exact.`
    return { outcome: failure('NOT_A_NUMBER', message) }
  }
  return written(entry !== undefined, {
    value: JSON.stringify(sum),
    expiresAt: entry ? entry.expiresAt : change.expiresAt,
  })
}

/** No expected value, or null: there is no entry, or its value is null. */
function isExpected(entry: LiveEntry | undefined, expected: string | null): boolean {
  const [value, wanted] = [entry?.value ?? 'null', expected ?? 'null']
  return value === wanted || sameValue(JSON.parse(value), JSON.parse(wanted))
}

function written(found: boolean, { value, expiresAt }: LiveEntry): AppliedChange {
  return { outcome: { ok: true, found, changed: true, value }, next: { value, expiresAt } }
}

function unchanged(entry: LiveEntry | undefined): AppliedChange {
  return { outcome: { ok: true, found: entry !== undefined, changed: false, value: entry?.value ?? null } }
}

function failure(code: EntryFailure['code'], message: string): EntryFailure {
  return { ok: false, code, message }
}
