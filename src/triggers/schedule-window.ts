import type { ScheduleRow, ScheduleState, ScheduleStep } from '../domain/schedule.ts'
import { cachedTimetable, type Timetable, timetableOf } from '../language/timetable.ts'
import type { Store } from '../store/store.ts'

/** A schedule in memory. */
export type Scheduled = {
  row: ScheduleRow
  /** When it has to be looked at, epoch milliseconds; infinite while a run that is going on holds it up. */
  fireAt: number
  /** Made when it is first asked for: most schedules wait for hours. */
  timetable: Timetable | undefined
  /** The due time for which that has been asked already. */
  preparedFor: number | undefined
}

export type ScheduleWindowOptions = {
  store: Pick<Store, 'listDueSchedules' | 'listWaitingSchedules'>
  /** 0 ≤ n < 1. */
  random(): number
  /** Schedules that are read at most, the ones that are due first. */
  sizeMax: number
}

/** The schedules that are due first, and those that have a run waiting; the others lie in the store. */
export class ScheduleWindow {
  readonly #options: ScheduleWindowOptions
  readonly #entries = new Map<string, Scheduled>()
  /** All schedules that are due before this are in memory. */
  #horizon = Number.NEGATIVE_INFINITY

  constructor(options: ScheduleWindowOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#entries.size
  }

  get horizon(): number {
    return this.#horizon
  }

  /** Whether nothing is registered, here or in the store. */
  get isEmpty(): boolean {
    return this.#entries.size === 0 && this.#horizon === Number.POSITIVE_INFINITY
  }

  get(workflowId: string): Scheduled | undefined {
    return this.#entries.get(workflowId)
  }

  all(): Scheduled[] {
    return [...this.#entries.values()]
  }

  /** Reads those that are due first. What is known of them already stays as it is. */
  async fill(): Promise<void> {
    const { store, sizeMax } = this.#options
    // What others deployed meanwhile may have made it large.
    if (this.#entries.size > 2 * sizeMax) return await this.refresh()
    const rows = await store.listDueSchedules(sizeMax)
    this.#horizon = rows.length < sizeMax ? Number.POSITIVE_INFINITY : (rows.at(-1)?.dueAt ?? 0)
    for (const row of rows) {
      const known = this.#entries.get(row.workflowId)
      if (!known || !isSame(known.row, row)) this.put(row)
    }
  }

  /** Forgets everything and reads it anew. */
  async refresh(): Promise<void> {
    this.#entries.clear()
    for (const row of await this.#options.store.listWaitingSchedules()) this.put(row)
    await this.fill()
  }

  /** Lets every schedule that is due later than it would be take its first time after `now`. */
  async beginAnew(now: number, take: (step: ScheduleStep) => Promise<boolean>): Promise<void> {
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

  /** Its state is another one now. */
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
   * Computes, of the schedules that are due before a time, what will be asked for then, so that nothing but the starts is
   * left to do: a few at a time, since many are often due at once. Answers the owners of all of these.
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

  /** Its due time, and the jitter. */
  fireAtOf({ dueAt, rule }: ScheduleRow): number {
    if (dueAt === null) return neverAt
    return dueAt + (rule.jitterMs === 0 ? 0 : Math.floor(this.#options.random() * (rule.jitterMs + 1)))
  }

  #isWanted({ dueAt, waitingAt }: ScheduleState): boolean {
    // Before the window was first filled nothing is left out.
    const isFar = this.#horizon > 0 && dueAt !== null && dueAt > this.#horizon
    return waitingAt !== null || (dueAt !== null && !isFar)
  }
}

const preparedAtOnce = 200

/** No time of day comes after it. */
const neverAt = 8_640_000_000_000_000

function isSame(a: ScheduleRow, b: ScheduleRow): boolean {
  return a.version === b.version && a.dueAt === b.dueAt && a.waitingAt === b.waitingAt
}
