import type { ScheduleRow, ScheduleState, ScheduleStep } from '../domain/schedule/schedule.ts'
import { cachedTimetable, type Timetable, timetableOf } from '../language/timetable.ts'
import type { Store } from '../store/store.ts'

/** A schedule in memory. */
export type Scheduled = {
  row: ScheduleRow
  /** When to look at it, in epoch milliseconds; infinite while a run in progress defers it. */
  fireAt: number
  /** Created on first use: most schedules wait for hours. */
  timetable: Timetable | undefined
  /** The due time for which the timetable was already computed. */
  preparedFor: number | undefined
}

export type ScheduleWindowOptions = {
  store: Pick<Store, 'listDueSchedules' | 'listWaitingSchedules'>
  /** 0 ≤ n < 1. */
  random(): number
  /** Maximum number of schedules read, earliest first. */
  sizeMax: number
}

/** The schedules that are due first, and those with a queued run. The others stay in the store. */
export class ScheduleWindow {
  readonly #options: ScheduleWindowOptions
  readonly #entries = new Map<string, Scheduled>()
  /** All schedules due before this time are in memory. */
  #loadedTo = Number.NEGATIVE_INFINITY

  constructor(options: ScheduleWindowOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#entries.size
  }

  get loadedTo(): number {
    return this.#loadedTo
  }

  /** Whether no schedule is registered, here or in the store. */
  get isEmpty(): boolean {
    return this.#entries.size === 0 && this.#loadedTo === Number.POSITIVE_INFINITY
  }

  get(workflowId: string): Scheduled | undefined {
    return this.#entries.get(workflowId)
  }

  all(): Scheduled[] {
    return [...this.#entries.values()]
  }

  /** Reads the schedules that are due first. Those already in memory stay unchanged. */
  async fill(): Promise<void> {
    const { store, sizeMax } = this.#options
    // Deployments may have enlarged the window in the meantime.
    if (this.#entries.size > 2 * sizeMax) return await this.refresh()
    const rows = await store.listDueSchedules(sizeMax)
    this.#loadedTo = rows.length < sizeMax ? Number.POSITIVE_INFINITY : (rows.at(-1)?.dueAt ?? 0)
    for (const row of rows) {
      const known = this.#entries.get(row.workflowId)
      if (!known || !isSame(known.row, row)) this.put(row)
    }
  }

  /** Reloads everything from the store. */
  async refresh(): Promise<void> {
    this.#entries.clear()
    for (const row of await this.#options.store.listWaitingSchedules()) this.put(row)
    await this.fill()
  }

  /** Resets every schedule that is due too late to its first time after `now`. */
  async restart(now: number, take: (step: ScheduleStep) => Promise<boolean>): Promise<void> {
    const { store, sizeMax } = this.#options
    let after: ScheduleRow | undefined
    do {
      const rows: ScheduleRow[] = await store.listDueSchedules(sizeMax, after)
      for (const { workflowId, version, rule, dueAt, waitingAt } of rows) {
        const next = timetableOf(rule).next(now)
        if (next === null || dueAt === null || next >= dueAt) continue
        await take({ workflowId, version, from: { dueAt, waitingAt }, to: { dueAt: next, waitingAt } })
      }
      after = rows.length < sizeMax ? undefined : rows.at(-1)
    } while (after)
    await this.refresh()
  }

  put(row: ScheduleRow): void {
    if (this.#isWanted(row)) {
      this.#entries.set(row.workflowId, {
        row,
        fireAt: this.fireAtOf(row),
        timetable: undefined,
        preparedFor: undefined,
      })
    } else this.#entries.delete(row.workflowId)
  }

  remove(workflowId: string): void {
    this.#entries.delete(workflowId)
  }

  /** Moves a schedule to a new state. */
  move(entry: Scheduled, state: ScheduleState): void {
    entry.row = { ...entry.row, ...state }
    entry.fireAt = this.fireAtOf(entry.row)
    const { workflowId } = entry.row
    if (!this.#isWanted(entry.row) && this.#entries.get(workflowId) === entry) this.#entries.delete(workflowId)
  }

  timetableOf(entry: Scheduled): Timetable {
    entry.timetable ??= cachedTimetable(timetableOf(entry.row.rule))
    return entry.timetable
  }

  /**
   * Computes what the schedules due before a time will need, a few at a time, so that only the starts are left: many
   * schedules are often due at once. Returns the owners of all of them.
   */
  prepare(before: number): Set<string> {
    const owners = new Set<string>()
    let left = preparedAtOnce
    for (const entry of this.#entries.values()) {
      const { dueAt, ownerId } = entry.row
      if (entry.fireAt >= before || dueAt === null) continue
      owners.add(ownerId)
      if (left === 0 || entry.preparedFor === dueAt) continue
      this.timetableOf(entry).next(dueAt)
      entry.preparedFor = dueAt
      left -= 1
    }
    return owners
  }

  /** The due time plus jitter. */
  fireAtOf({ dueAt, rule }: ScheduleRow): number {
    if (dueAt === null) return neverAt
    return dueAt + (rule.jitterMs === 0 ? 0 : Math.floor(this.#options.random() * (rule.jitterMs + 1)))
  }

  #isWanted({ dueAt, waitingAt }: ScheduleState): boolean {
    // Before the window is first filled, every schedule is accepted.
    const isFar = this.#loadedTo > 0 && dueAt !== null && dueAt > this.#loadedTo
    return waitingAt !== null || (dueAt !== null && !isFar)
  }
}

const preparedAtOnce = 200

/** The latest time that a date can have. */
const neverAt = 8_640_000_000_000_000

function isSame(a: ScheduleRow, b: ScheduleRow): boolean {
  return a.version === b.version && a.dueAt === b.dueAt && a.waitingAt === b.waitingAt
}
