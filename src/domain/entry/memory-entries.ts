import {
  compareKeys,
  type EntryOutcome,
  type EntryPage,
  type EntryPower,
  type EntryQuery,
  type EntryRequest,
  type EntryRow,
  keyRange,
  pageLength,
} from './entry.ts'
import { type EntryState, isLive, type KeptEntry, placeOf, planChanges } from './plan-changes.ts'

/** Entries in memory, for runs that leave nothing behind: tests of workflows, and runs of a file. */
export class MemoryEntries implements EntryPower {
  readonly #state: EntryState = { bytes: new Map(), entries: new Map(), done: new Map() }
  readonly #rows = new Map<string, { scope: number; row: EntryRow }>()
  readonly #scopes = new Map<string | null, number>()
  readonly #bytesMax: number

  constructor(bytesMax: number = memoryBytesMax) {
    this.#bytesMax = bytesMax
  }

  async change(request: EntryRequest): Promise<EntryOutcome> {
    const workflow = this.#scopeOf(request.workflowId)
    const placed = { ...request, workspace: 0, workflow }
    const { outcomes, writes } = planChanges([placed], this.#state, this.#bytesMax)
    for (const { entry, key } of writes) {
      if (entry) this.#rows.set(placeOf(placed), { scope: workflow, row: { key, ...shown(entry) } })
      else this.#rows.delete(placeOf(placed))
    }
    return outcomes[0]!
  }

  async read({ workflowId, key, now }: { workflowId: string | null; key: string; now: number }) {
    const found = this.#rows.get(placeOf({ workspace: 0, workflow: this.#scopeOf(workflowId), key }))
    return found && isLive(found.row, now) ? found.row : null
  }

  async list(query: EntryQuery): Promise<EntryPage> {
    const { first, end } = keyRange(query)
    const scope = this.#scopeOf(query.workflowId)
    const rows = Array.from(this.#rows.values())
      .filter(({ scope: of, row }) => of === scope && isLive(row, query.now) && compareKeys(row.key, first) >= 0)
      .map(({ row }) => row)
      .filter(({ key }) => end === undefined || compareKeys(key, end) < 0)
      .sort((a, b) => compareKeys(a.key, b.key))
    const length = pageLength(
      rows.slice(0, query.limit + 1).map(({ key, value }) => ({ bytes: key.length + value.length })),
      query,
    )
    return { entries: rows.slice(0, length), isComplete: length === rows.length }
  }

  #scopeOf(workflowId: string | null): number {
    const known = this.#scopes.get(workflowId)
    if (known !== undefined) return known
    this.#scopes.set(workflowId, this.#scopes.size)
    return this.#scopes.size - 1
  }
}

function shown({ value, expiresAt, updatedAt }: KeptEntry & { updatedAt: number }): Omit<EntryRow, 'key'> {
  return { value, expiresAt, updatedAt }
}

const memoryBytesMax = 10_485_760
