import { jsonDepthMax } from '../limits.ts'

/** Entries are values that workflows keep between their runs, by key. */
export const entryBounds = {
  keyCharsMax: 512,
  /** The bytes of a value as JSON, in UTF-8. */
  valueBytesMax: 262_144,
  /** Numbers, texts, objects and lists in one value. */
  valuesMax: 20_000,
  ttlMsMax: 315_360_000_000,
  listMax: 1_000,
  listBytesMax: 1_048_576,
} as const

/** Besides the key and the value, each entry counts this many bytes: a short entry takes space, too. */
const entryBytesMin = 100

/** Entries belong to a workflow, or to the whole workspace if `workflowId` is null. */
export type EntryScope = { workspaceId: string; workflowId: string | null }

export const entryScopes = ['workflow', 'workspace'] as const
export type EntryScopeName = (typeof entryScopes)[number]

/** Values are JSON texts. Times are epoch milliseconds; `expiresAt` is null for an entry that stays. */
export type EntryChange =
  | { type: 'set' | 'add_if_absent'; value: string; expiresAt: number | null }
  | { type: 'compare_and_set'; expected: string | null; value: string; expiresAt: number | null }
  /** `expiresAt`: only for an entry that this creates. */
  | { type: 'increment'; by: number; expiresAt: number | null }
  | { type: 'delete' }

/**
 * A change of one entry. `once`: the change is made only once for this text, however often it is asked for. The store
 * forgets that when the run has ended.
 */
export type EntryRequest = EntryScope & { key: string; change: EntryChange; now: number; once?: EntryOnce }

export type EntryOnce = { executionId: string; operation: string }

/** `found`: there was an entry before. `value`: the value that the entry has now, as JSON; null if it has none. */
export type EntryOutcome = { ok: true; found: boolean; changed: boolean; value: string | null } | EntryFailure

export type EntryFailure = { ok: false; code: 'NOT_A_NUMBER' | 'STORE_FULL' | 'NOT_FOUND'; message: string }

export type EntryRow = { key: string; value: string; updatedAt: number; expiresAt: number | null }

/** `after`: only keys after this one. The page ends before the entries have more than `bytesMax` bytes. */
export type EntryQuery = EntryScope & {
  prefix: string
  after: string | null
  limit: number
  bytesMax: number
  now: number
}

/** By key, in the order of code points. `isComplete`: there are no further entries. */
export type EntryPage = { entries: EntryRow[]; isComplete: boolean }

/** The bytes that an entry takes of those that a workspace may have. */
export function entryBytes(key: string, value: string): number {
  return Buffer.byteLength(key) + Buffer.byteLength(value) + entryBytesMin
}

/** The problem of a key ("must not be empty"); undefined when it has none. */
export function keyProblem(key: string): string | undefined {
  if (key === '') return 'must not be empty'
  if (key.length > entryBounds.keyCharsMax) return `must have at most ${entryBounds.keyCharsMax} characters`
  // Clients resolve these in the paths of addresses.
  if (key === '.' || key === '..') return 'must not be "." or ".."'
  if (!isPlainText(key)) return 'must not contain control characters or halves of characters'
  return undefined
}

/** A text that every store can keep and compare. */
export function isPlainText(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to find.
  return text.isWellFormed() && !/[\u0000-\u001f\u007f]/.test(text)
}

/**
 * The JSON of a value. Throws `RangeError` with a clause ("has more than 256 KB") when it is too large. Stops early, so
 * that a huge value costs no more than a large one.
 */
export function entryText(value: unknown): string {
  assertSmall(value)
  const text = JSON.stringify(value) ?? 'null'
  if (Buffer.byteLength(text) > entryBounds.valueBytesMax) throw new RangeError(tooLong)
  return text
}

const tooLong = `has more than ${entryBounds.valueBytesMax / 1024} KB as JSON, the most that an entry can keep`

function assertSmall(value: unknown): void {
  let [values, chars] = [0, 0]
  const open: { value: unknown; depth: number }[] = [{ value, depth: 1 }]
  for (let current = open.pop(); current; current = open.pop()) {
    const { value, depth } = current
    values += 1
    if (typeof value === 'string') chars += value.length
    else if (typeof value === 'object' && value !== null) {
      if (depth > jsonDepthMax) throw new RangeError(`is nested deeper than ${jsonDepthMax} levels`)
      const names = Array.isArray(value) ? undefined : Object.keys(value)
      const members = names ? names.length : (value as unknown[]).length
      if (values + open.length + members > entryBounds.valuesMax) {
        throw new RangeError(`holds more than ${entryBounds.valuesMax} values, the most that an entry can keep`)
      }
      if (names) for (const name of names) chars += name.length
      for (const member of Object.values(value)) open.push({ value: member, depth: depth + 1 })
    }
    if (chars > entryBounds.valueBytesMax) throw new RangeError(tooLong)
  }
}

/**
 * The first text after all texts that begin with `prefix`, in the order of code points; undefined when no text is.
 * UTF-8 bytes have the same order.
 */
export function afterPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix)
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    const point = last.codePointAt(0)!
    // Half characters are no code points of a text.
    if (point < 0x10ffff) return points.join('') + String.fromCodePoint(point === 0xd7ff ? 0xe000 : point + 1)
  }
  return undefined
}

/** The keys of a query: from `first` on, before `end` if there is one. */
export function keyRange({ prefix, after }: Pick<EntryQuery, 'prefix' | 'after'>): {
  first: string
  end: string | undefined
} {
  // No key has control characters, so no key is between the two.
  const next = after === null ? '' : `${after}\u0001`
  return { first: compareKeys(next, prefix) > 0 ? next : prefix, end: afterPrefix(prefix) }
}

/** In the order of code points. */
export function compareKeys(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

/** How many of these entries are in a page; at least one, if there are any. `found`: at most `limit` + 1. */
export function pageLength(
  found: readonly { bytes: number }[],
  { limit, bytesMax }: Pick<EntryQuery, 'limit' | 'bytesMax'>,
): number {
  let [length, bytes] = [0, 0]
  while (length < Math.min(found.length, limit)) {
    bytes += found[length]!.bytes
    if (length > 0 && bytes > bytesMax) break
    length += 1
  }
  return length
}

/** Entries for runs. Rejects with `AppError` when the storage is not available. */
export interface EntryPower {
  change(request: EntryRequest): Promise<EntryOutcome>
  read(key: EntryScope & { key: string; now: number }): Promise<EntryRow | null>
  list(query: EntryQuery): Promise<EntryPage>
}
