import type { Timer } from '../domain/clock.ts'
import { newExecutionId } from '../domain/ids.ts'
import type { ScheduleRow, ScheduleStep } from '../domain/schedule/schedule.ts'
import { decide, type ScheduleDecision, type ScheduleOutcome, type StartOutcome } from './schedule-decision.ts'
import { type Scheduled, ScheduleWindow } from './schedule-window.ts'
import type { SchedulerOptions } from './scheduler-options.ts'

/**
 * Starts workflows when they are due. The schedules that are due first are in memory, the others in the store, and one
 * timer waits for the earliest. Each decision is a step of the schedule from one state to the next, which the store
 * accepts only once. So no due time is resolved twice, even after a crash or with several processes.
 *
 * While a run is in progress, the schedule's rule decides about further due times (`schedule-decision.ts`). A due time
 * is missed when it is handled much too late, or was before this start.
 *
 * The system clock may jump. The timer checks it every second, so due times passed by a jump forward are missed. After
 * a jump backward, schedules continue where they were, because nothing is resolved twice. After a jump of hours, the
 * clock must have been wrong, and each schedule takes its first time after now.
 */
export class Scheduler {
  readonly #options: SchedulerOptions
  readonly #window: ScheduleWindow
  /** Runs in progress, by workflow. */
  readonly #running = new Map<string, Set<string>>()
  #openedAt = 0
  /** The last known difference between the system clock and the monotonic clock. */
  #offset = 0
  #timer: Timer | undefined
  #turn: Promise<void> | undefined
  #again = false
  /** Runs of an earlier process that ended before they were loaded here; undefined once all are loaded. */
  #endedEarly: Set<string> | undefined = new Set()
  /** Runs that are being started, and may not be in the store yet. */
  readonly #starting = new Set<string>()
  /** A change could not be read, so everything must be reloaded. */
  #isStale = false
  /** The store has nothing due before this time. */
  #fillAfter = 0
  #stopped = false
  /** Whether the last attempt failed and the failure was reported. */
  #isTroubled = false

  constructor(options: SchedulerOptions) {
    this.#options = options
    const { store, random, windowMax = 2_000 } = options
    this.#window = new ScheduleWindow({ store, random, sizeMax: windowMax })
  }

  /** Loads the registered schedules and handles missed times. Retries while the store cannot be read. */
  async open(): Promise<void> {
    if (!this.#isLeader) return
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
    // Most installations have no schedules.
    if (!this.#window.isEmpty) {
      for (const { workflowId, executionId } of await store.listScheduledJobs()) {
        if (!this.#endedEarly?.has(executionId)) this.#began(workflowId, executionId)
      }
      if (lastSeenAt - this.#openedAt > backMsMax) await this.#window.restart(clock.now(), this.#options.take)
    }
    this.#endedEarly = undefined
    this.#wake()
  }

  /** Call when this process has become the leader, or is no longer. A new leader starts like a new process. */
  leaderChanged(): void {
    this.#timer?.cancel()
    if (!this.#isLeader || this.#stopped) return
    this.#endedEarly = new Set()
    this.#running.clear()
    void this.open()
  }

  /** Call now and then while other processes may run what this one starts: finds out which runs have ended. */
  async lookForEnded(): Promise<void> {
    if (this.#running.size === 0 || this.#endedEarly || !this.#isLeader) return
    const known = [...this.#running].flatMap(([workflowId, ids]) => [...ids].map((id) => [workflowId, id] as const))
    const onDisk = known.filter(([, id]) => !this.#starting.has(id))
    const present = new Set((await this.#options.store.listScheduledJobs()).map(({ executionId }) => executionId))
    for (const [workflowId, id] of onDisk) if (!present.has(id)) this.ended(workflowId, id)
  }

  get #isLeader(): boolean {
    return this.#options.isLeader?.() ?? true
  }

  /** Call after a workflow was deployed, undeployed or deleted. */
  changed(workflowId: string): void {
    if (!this.#isLeader) return
    this.#reload(workflowId)
      .catch((error: unknown) => {
        this.#isStale = true
        this.#tell(error)
      })
      .finally(() => this.#wake())
  }

  /** Call after the log entry of a scheduled run was written. */
  ended(workflowId: string, executionId: string): void {
    this.#endedEarly?.add(executionId)
    const running = this.#running.get(workflowId)
    if (!running?.delete(executionId) || running.size > 0) return
    this.#running.delete(workflowId)
    const entry = this.#window.get(workflowId)
    if (entry && this.#isFree(entry)) this.#wake()
  }

  /** Starts nothing more, and waits for what is in progress. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#timer?.cancel()
    await this.#turn
  }

  /** Calls during a turn make it look once more. */
  #wake(): void {
    if (this.#stopped || this.#endedEarly || !this.#isLeader) return
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
      if (now < Math.max(this.#window.loadedTo, this.#fillAfter)) continue
      await this.#window.fill()
      if (this.#window.all().some(({ fireAt }) => fireAt <= now)) this.#again = true
      else if (this.#window.loadedTo <= now) this.#fillAfter = now + lookMs
    }
  }

  /** Handles one schedule until nothing is due. */
  async #serve(entry: Scheduled): Promise<void> {
    const { clock } = this.#options
    const { workflowId } = entry.row
    try {
      for (let count = 0; count < decisionsMax && !this.#stopped; count += 1) {
        if (this.#window.get(workflowId) !== entry) return
        const decision = this.#decide(entry)
        if (decision?.do === 'defer') entry.fireAt = Number.POSITIVE_INFINITY
        if (decision === undefined) entry.fireAt = this.#window.fireAtOf(entry.row)
        if (decision === undefined || decision.do === 'defer') return
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

  /** Returns false when the schedule has changed. */
  async #carryOut(entry: Scheduled, decision: Exclude<ScheduleDecision, { do: 'defer' }>): Promise<boolean> {
    const { row } = entry
    const { take, onResolved } = this.#options
    const { workflowId, version, dueAt, waitingAt } = row
    const step: ScheduleStep = { workflowId, version, from: { dueAt, waitingAt }, to: decision.to }
    let outcome: ScheduleOutcome
    if (decision.do === 'run') {
      const started = await this.#start(row, decision.dueAt, step)
      if (started === 'refused') return false
      // A due time beyond the owner's limits is resolved too. Otherwise all of them would run when the window ends.
      if (started !== 'started' && !(await take(step))) return false
      outcome = started
    } else {
      if (!(await take(step))) return false
      outcome = decision.do === 'wait' ? 'waiting' : decision.why
    }
    this.#window.move(entry, decision.to)
    onResolved(row, decision.dueAt, outcome)
    return true
  }

  async #start(row: ScheduleRow, dueAt: number, step: ScheduleStep): Promise<StartOutcome> {
    const { workflowId } = row
    const executionId = newExecutionId()
    // Registered before it is on disk, because it may end before `start` returns.
    this.#began(workflowId, executionId)
    this.#starting.add(executionId)
    let outcome: StartOutcome | undefined
    try {
      outcome = await this.#options.start({ row, dueAt, executionId }, step)
      return outcome
    } finally {
      this.#starting.delete(executionId)
      if (outcome !== 'started') this.#running.get(workflowId)?.delete(executionId)
      if (this.#running.get(workflowId)?.size === 0) this.#running.delete(workflowId)
    }
  }

  #began(workflowId: string, executionId: string): void {
    const running = this.#running.get(workflowId)
    if (running) running.add(executionId)
    else this.#running.set(workflowId, new Set([executionId]))
  }

  /** Whether the run that deferred it has ended. */
  #isFree({ row, fireAt }: Scheduled): boolean {
    if (this.#running.has(row.workflowId)) return false
    return row.waitingAt !== null || fireAt === Number.POSITIVE_INFINITY
  }

  async #reload(workflowId: string): Promise<void> {
    const row = await this.#options.store.getSchedule(workflowId)
    if (row) this.#window.put(row)
    else this.#window.remove(workflowId)
  }

  /** Sets one timer for the earliest schedule; none when nothing is registered. */
  #arm(): void {
    this.#timer?.cancel()
    if (this.#stopped || (this.#window.isEmpty && !this.#isStale)) return
    const now = this.#options.clock.now()
    let nearest = Math.min(now + lookMs, Math.max(this.#window.loadedTo, this.#fillAfter))
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
    // Times from now on are not missed.
    this.#openedAt = Math.min(this.#openedAt, now)
    if (backMs > backMsMax) await this.#window.restart(clock.now(), this.#options.take)
  }

  #tell(error: unknown): void {
    if (!this.#stopped && !this.#isTroubled) this.#options.onTrouble(error)
    this.#isTroubled = true
  }
}

/** A due time handled later than this was missed. */
const lateMsMax = 5_000
/** How often to check the system clock. */
const lookMs = 1_000
const retryMs = 1_000
/** How long before they are due schedules are prepared. */
const aheadMs = 10_000
/** If the system clock goes back by more than this, it must have been wrong. */
const backMsMax = 3 * 3_600_000
/** Decisions about one schedule before others get their turn. */
const decisionsMax = 20
