import { type EntryRequest, entryBytes } from '../../../../../src/domain/entry/entry.ts'

type Entry = { key: string; value: string; expiresAt: number | null; workflowId: string | null }

/** Entries as a list in memory: the simplest code that keeps their promises. */
export class EntryModel {
  readonly #bytesMax: number
  #entries: Entry[] = []

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  change({ workflowId, key, change, now }: EntryRequest): Record<string, unknown> {
    const kept = this.#entries.find((entry) => entry.key === key && entry.workflowId === workflowId)
    const old = kept && (kept.expiresAt === null || kept.expiresAt > now) ? kept : undefined
    const found = old !== undefined
    if (change.type === 'delete') {
      if (found) this.#entries = this.#entries.filter((entry) => entry !== old)
      return { found, changed: found, value: null }
    }
    const json = old?.value ?? 'null'
    if (change.type === 'add_if_absent' && found) return { found, changed: false, value: json }
    if (change.type === 'compare_and_set' && json !== (change.expected ?? 'null')) {
      return { found, changed: false, value: old?.value ?? null }
    }
    let { expiresAt } = change
    let value = 'value' in change ? change.value : ''
    if (change.type === 'increment') {
      const before: unknown = old ? JSON.parse(old.value) : 0
      if (typeof before !== 'number') return { ok: false, code: 'NOT_A_NUMBER' }
      value = JSON.stringify(before + change.by)
      if (old) expiresAt = old.expiresAt
    }
    const others = this.#entries.filter((entry) => entry !== kept)
    const entry = { key, value, expiresAt, workflowId }
    const grows = entryBytes(key, value) > (kept ? entryBytes(key, kept.value) : 0)
    if (grows && bytesOf([...others, entry]) > this.#bytesMax) return { ok: false, code: 'STORE_FULL' }
    this.#entries = [...others, entry]
    return { found, changed: true, value }
  }

  list(workflowId: string | null, now: number): Omit<Entry, 'workflowId'>[] {
    return this.#entries
      .filter((entry) => entry.workflowId === workflowId && (entry.expiresAt === null || entry.expiresAt > now))
      .map(({ key, value, expiresAt }) => ({ key, value, expiresAt }))
      .sort((a, b) => (a.key < b.key ? -1 : 1))
  }

  /** Deletes the entries that have expired. */
  clean(now: number): void {
    this.#entries = this.#entries.filter(({ expiresAt }) => expiresAt === null || expiresAt > now)
  }

  bytes(): number {
    return bytesOf(this.#entries)
  }
}

function bytesOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, { key, value }) => sum + entryBytes(key, value), 0)
}
