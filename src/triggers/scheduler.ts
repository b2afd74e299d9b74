import type { Clock, Timer } from '../domain/clock.ts'
import { newExecutionId } from '../domain/ids.ts'
import type { ScheduleRow, ScheduleStep } from '../domain/schedule.ts'
import type { Store } from '../store/store.ts'
import {
  decide,
  type ScheduleDecision,
  type ScheduledRun,
  type ScheduleFate,
  type StartOutcome,
} from './schedule-decision.ts'
import { type Scheduled, ScheduleWindow } from './schedule-window.ts'

export type SchedulerOptions = {
  store: Pick<Store, 'getSchedule' | 'listDueSchedules' | 'listWaitingSchedules' | 'listScheduledJobs'>
  clock: Clock
  /** 0 ≤ n < 1. */
  random(): number
  /** Starts a run; the step is taken with it, in one commit. Rejects when that cannot be decided now. */
  start(run: ScheduledRun, step: ScheduleStep): Promise<StartOutcome>
  /** Takes a step that starts nothing; false when it is refused. Rejects like `start`. */
  take(step: ScheduleStep): Promise<boolean>
  /** Told of the owners of schedules that are due soon. */
  prepare(ownerIds: ReadonlySet<string>): void
  /** Told of every due time that was decided. */
  onDecided(row: ScheduleRow, dueAt: number, fate: ScheduleFate): void
  /** Told that schedules stand still for a reason; they are tried again a second later. */
  onTrouble(error: unknown): void
  /** When something was recorded last, before this start. */
  lastSeenAt: number
  /** Schedules in memory at most: those that are due first. */
  windowMax?: number
}

/**
 * Runs workflows when they are due. The schedules that are due first are in memory, the rest lies in the store, and one
 * timer waits for the nearest. What is decided about a due time is a step of the schedule from one state to the next,
 * which the store takes once: so no time is decided twice, whatever dies in between, and whoever else tries.
 *
 * While a run is going on, the schedule's rule says what becomes of the times that come (`schedule-decision.ts`). A time is
 * missed when it is decided long after it came, or was before this start.
 *
 * The time of day may jump. The timer looks at it every second, so a jump forward is a time that was missed. After a jump
 * backward a schedule goes on where it was, since what was decided is not decided again; unless it was hours, when the
 * clock must have been wrong: then each schedule takes its first time after now.
 */
export class Scheduler {
  readonly #options: SchedulerOptions
  readonly #window: ScheduleWindow
  /** Runs that have not ended, by workflow. */
  readonly #running = new Map<string, Set<string>>()
  #openedAt = 0
  /** What the monotonic clock and the time of day are apart, when last looked at. */
  #offset = 0
  #timer: Timer | undefined
  #turn: Promise<void> | undefined
  #again = false
  /** Runs of an earlier process that ended before this knew of them; undefined when it knows of all. */
  #endedEarly: Set<string> | undefined = new Set()
  /** A change that could not be read: everything has to be read anew. */
  #isStale = false
  /** Until then the store has nothing more that is due. */
  #fillAfter = 0
  #stopped = false
  /** Whether the last thing that was tried failed, and that was told. */
  #isTroubled = false

  constructor(options: SchedulerOptions) {
    this.#options = options
    const { store, random, windowMax = 2_000 } = options
    this.#window = new ScheduleWindow({ store, random, sizeMax: windowMax })
  }

  /** Takes up what is registered, and what passed while nobody was there. Tries again while the store cannot be read. */
  async open(): Promise<void> {
    try {
      await this.#begin()
    } catch (error) {
      this.#tell(error)
      if (!this.#stopped) this.#timer = this.#options.clock.setTimer(retryMs, () => void this.open())
    }
  }

  async #begin(): Promise<void> {
    const { store, clock, lastSeenAt } = this.#options
    this.#openedAt = clock.now()
    this.#offset = this.#openedAt - clock.monotonic()
    await this.#window.refresh()
    // Most installations end here.
    if (!this.#window.isEmpty) {
      for (const { workflowId, executionId } of await store.listScheduledJobs()) {
        if (!this.#endedEarly?.has(executionId)) this.#began(workflowId, executionId)
      }
      if (lastSeenAt - this.#openedAt > backMsMax) await this.#window.beginAnew(clock.now(), this.#options.take)
    }
    this.#endedEarly = undefined
    this.#wake()
  }

  /** After a workflow was deployed, undeployed or deleted. */
  changed(workflowId: string): void {
    this.#reload(workflowId)
      .catch((error: unknown) => {
        this.#isStale = true
        this.#tell(error)
      })
      .finally(() => this.#wake())
  }

  /** After the log entry of a run by schedule was written. */
  ended(workflowId: string, executionId: string): void {
    this.#endedEarly?.add(executionId)
    const running = this.#running.get(workflowId)
    if (!running?.delete(executionId) || running.size > 0) return
    this.#running.delete(workflowId)
    const entry = this.#window.get(workflowId)
    if (entry && this.#isFree(entry)) this.#wake()
  }

  /** Starts nothing more; resolves when nothing is under way. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#timer?.cancel()
    await this.#turn
  }

  /** Calls while a turn is under way make it look once more. */
  #wake(): void {
    if (this.#stopped || this.#endedEarly) return
    this.#again = true
    this.#turn ??= this.#takeTurn()
      .catch((error: unknown) => this.#tell(error))
      .finally(() => {
        this.#turn = undefined
        this.#arm()
      })
  }

  async #takeTurn(): Promise<void> {
    while (this.#again && !this.#stopped) {
      this.#again = false
      await this.#watchClock()
      if (this.#isStale) {
        await this.#window.refresh()
        this.#isStale = false
      }
      const now = this.#options.clock.now()
      const isDue = (entry: Scheduled) => entry.fireAt <= now || this.#isFree(entry)
      const due = this.#window.all().filter(isDue)
      await Promise.all(due.map((entry) => this.#serve(entry)))
      if (now < Math.max(this.#window.horizon, this.#fillAfter)) continue
      await this.#window.fill()
      if (this.#window.all().some(({ fireAt }) => fireAt <= now)) this.#again = true
      else if (this.#window.horizon <= now) this.#fillAfter = now + lookMs
    }
  }

  /** Decides what is due of one schedule, until nothing is. */
  async #serve(entry: Scheduled): Promise<void> {
    const { clock } = this.#options
    const { workflowId } = entry.row
    try {
      for (let count = 0; count < decisionsMax && !this.#stopped; count += 1) {
        if (this.#window.get(workflowId) !== entry) return
        const decision = this.#decide(entry)
        if (decision?.do === 'hold') entry.fireAt = Number.POSITIVE_INFINITY
        if (decision === undefined) entry.fireAt = this.#window.fireAtOf(entry.row)
        if (decision === undefined || decision.do === 'hold') return
        if (!(await this.#carryOut(entry, decision))) return await this.#reload(workflowId)
        this.#isTroubled = false
        if (entry.fireAt > clock.now() && !this.#isFree(entry)) return
      }
      this.#again = true
    } catch (error) {
      entry.fireAt = clock.now() + retryMs
      this.#tell(error)
    }
  }

  #decide(entry: Scheduled): ScheduleDecision | undefined {
    const { row } = entry
    const now = this.#options.clock.now()
    return decide({
      ...{ row, now, timetable: this.#window.timetableOf(entry) },
      missedBefore: Math.max(this.#openedAt, now - lateMsMax) - row.rule.jitterMs,
      isRunning: this.#running.has(row.workflowId),
    })
  }

  /** False when the schedule is not what it was. */
  async #carryOut(entry: Scheduled, decision: Exclude<ScheduleDecision, { do: 'hold' }>): Promise<boolean> {
    const { row } = entry
    const { take, onDecided } = this.#options
    const { workflowId, version, dueAt, waitingAt } = row
    const step: ScheduleStep = { workflowId, version, from: { dueAt, waitingAt }, to: decision.to }
    let fate: ScheduleFate
    if (decision.do === 'run') {
      const outcome = await this.#start(row, decision.dueAt, step)
      if (outcome === 'refused') return false
      // What the owner has no right to is decided, too: else it would all come when the window is over.
      if (outcome !== 'started' && !(await take(step))) return false
      fate = outcome
    } else {
      if (!(await take(step))) return false
      fate = decision.do === 'wait' ? 'waiting' : decision.why
    }
    this.#window.move(entry, decision.to)
    onDecided(row, decision.dueAt, fate)
    return true
  }

  async #start(row: ScheduleRow, dueAt: number, step: ScheduleStep): Promise<StartOutcome> {
    const { workflowId } = row
    const executionId = newExecutionId()
    // Before it is on disk: it may have ended by the time that this hears of it.
    this.#began(workflowId, executionId)
    let outcome: StartOutcome | undefined
    try {
      outcome = await this.#options.start({ row, dueAt, executionId }, step)
      return outcome
    } finally {
      if (outcome !== 'started') this.#running.get(workflowId)?.delete(executionId)
      if (this.#running.get(workflowId)?.size === 0) this.#running.delete(workflowId)
    }
  }

  #began(workflowId: string, executionId: string): void {
    const running = this.#running.get(workflowId)
    if (running) running.add(executionId)
    else this.#running.set(workflowId, new Set([executionId]))
  }

  /** Whether what it was held up by is over. */
  #isFree({ row, fireAt }: Scheduled): boolean {
    if (this.#running.has(row.workflowId)) return false
    return row.waitingAt !== null || fireAt === Number.POSITIVE_INFINITY
  }

  async #reload(workflowId: string): Promise<void> {
    const row = await this.#options.store.getSchedule(workflowId)
    if (row) this.#window.put(row)
    else this.#window.remove(workflowId)
  }

  /** One timer for the nearest of all; none when nothing is registered. */
  #arm(): void {
    this.#timer?.cancel()
    if (this.#stopped || (this.#window.isEmpty && !this.#isStale)) return
    const now = this.#options.clock.now()
    let nearest = Math.min(now + lookMs, Math.max(this.#window.horizon, this.#fillAfter))
    for (const { fireAt } of this.#window.all()) nearest = Math.min(nearest, fireAt)
    const owners = this.#window.prepare(now + aheadMs)
    if (owners.size > 0) this.#options.prepare(owners)
    this.#timer = this.#options.clock.setTimer(Math.max(0, nearest - this.#options.clock.now()), () => this.#wake())
  }

  async #watchClock(): Promise<void> {
    const { clock } = this.#options
    const now = clock.now()
    const offset = now - clock.monotonic()
    const backMs = this.#offset - offset
    this.#offset = offset
    // What comes from now on has not been missed before this start.
    this.#openedAt = Math.min(this.#openedAt, now)
    if (backMs > backMsMax) await this.#window.beginAnew(clock.now(), this.#options.take)
  }

  #tell(error: unknown): void {
    if (!this.#stopped && !this.#isTroubled) this.#options.onTrouble(error)
    this.#isTroubled = true
  }
}

/** A due time that is decided so much later was missed. */
const lateMsMax = 5_000
/** How often the time of day is looked at, at least. */
const lookMs = 1_000
const retryMs = 1_000
/** How long before they are due schedules are made ready. */
const aheadMs = 10_000
/** What the time of day may go back by before the clock is taken to have been wrong. */
const backMsMax = 3 * 3_600_000
/** Decisions about one schedule before others have their turn. */
const decisionsMax = 20
