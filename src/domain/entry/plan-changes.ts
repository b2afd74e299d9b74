import { applyChange } from './apply-change.ts'
import { type EntryChange, type EntryOutcome, type EntryRequest, entryBytes } from './entry.ts'

/** An entry as it is on disk, also when it has expired. */
export type KeptEntry = { value: string; bytes: number; expiresAt: number | null }

/**
 * A change that was made before. `number`: the sum of an increment. The other values are those of the request itself.
 */
export type DoneChange = { found: boolean; number: number | null }

/** A request whose workspace and workflow have numbers in a store. `workflow`: 0 for the whole workspace. */
export type PlacedRequest = EntryRequest & { workspace: number; workflow: number }

/** `bytes`: by workspace. `entries`: by `placeOf`. `done`: by `onceOf`. */
export type EntryState = {
  bytes: Map<number, number>
  entries: Map<string, KeptEntry>
  done: Map<string, DoneChange>
}

export type EntryWrite = Pick<PlacedRequest, 'workspace' | 'workflow' | 'key'> & {
  /** Null deletes the entry. */
  entry: (KeptEntry & { updatedAt: number }) | null
}

export type PlannedChanges = {
  outcomes: EntryOutcome[]
  writes: EntryWrite[]
  /** The changes that must not be made again. */
  done: (DoneChange & { executionId: string; operation: string; at: number })[]
}

/**
 * Makes changes one after the other in memory, for a store that writes the result in the same transaction. Changes
 * `state`, so that later requests see earlier ones. `bytesMax`: of a workspace.
 */
export function planChanges(requests: readonly PlacedRequest[], state: EntryState, bytesMax: number): PlannedChanges {
  const writes = new Map<string, EntryWrite>()
  const done: PlannedChanges['done'] = []
  const outcomes = requests.map((request): EntryOutcome => {
    const { workspace, workflow, key, change, now, once } = request
    const before = once && state.done.get(onceOf(once))
    if (before) return repeated(before, change)
    const place = placeOf(request)
    const kept = state.entries.get(place)
    const live = kept && isLive(kept, now) ? kept : undefined
    const { outcome, next } = applyChange(live, change)
    if (!outcome.ok || next === undefined) return outcome
    const bytes = next === null ? 0 : entryBytes(key, next.value)
    const growth = bytes - (kept?.bytes ?? 0)
    const used = state.bytes.get(workspace) ?? 0
    if (growth > 0 && used + growth > bytesMax) return storeFull(bytesMax)
    state.bytes.set(workspace, used + growth)
    if (next === null) state.entries.delete(place)
    else state.entries.set(place, { ...next, bytes })
    writes.set(place, { workspace, workflow, key, entry: next && { ...next, bytes, updatedAt: now } })
    if (once) {
      const number = change.type === 'increment' ? Number(outcome.value) : null
      state.done.set(onceOf(once), { found: outcome.found, number })
      done.push({ ...once, found: outcome.found, number, at: now })
    }
    return outcome
  })
  return { outcomes, writes: [...writes.values()], done }
}

/** The most bytes by which requests can make each workspace grow. */
export function growthOf(requests: readonly PlacedRequest[]): Map<number, number> {
  const growth = new Map<number, number>()
  for (const { workspace, key, change } of requests) {
    if (change.type === 'delete') continue
    const bytes = entryBytes(key, 'value' in change ? change.value : numberOfAnyLength)
    growth.set(workspace, (growth.get(workspace) ?? 0) + bytes)
  }
  return growth
}

/** As long as any number in JSON. */
const numberOfAnyLength = '-1.2345678901234567e-300'

export function isLive({ expiresAt }: Pick<KeptEntry, 'expiresAt'>, now: number): boolean {
  return expiresAt === null || expiresAt > now
}

export function placeOf({ workspace, workflow, key }: Pick<PlacedRequest, 'workspace' | 'workflow' | 'key'>): string {
  return `${workspace}/${workflow}/${key}`
}

export function onceOf({ executionId, operation }: NonNullable<EntryRequest['once']>): string {
  return `${executionId}/${operation}`
}

/** Whether a change needs the value that the entry has. */
export function readsValue({ type }: EntryChange): boolean {
  return type !== 'set' && type !== 'delete'
}

export const unknownScope: EntryOutcome = {
  ok: false,
  code: 'NOT_FOUND',
  message: 'The workflow or workspace of this entry does not exist. It may have been deleted.',
}

function repeated({ found, number }: DoneChange, change: EntryChange): EntryOutcome {
  const value = 'value' in change ? change.value : number === null ? null : JSON.stringify(number)
  return { ok: true, found, changed: true, value }
}

function storeFull(bytesMax: number): EntryOutcome {
  const message =
    `The entries of the workspace would have more than ${bytesMax} bytes, the most that MILLRACE_STORE_BYTES allows. ` +
    'Delete entries, or give them a time to live.'
  return { ok: false, code: 'STORE_FULL', message }
}
