import { newExecutionId } from '../../../src/domain/ids.ts'
import { logWrite } from '../../../src/domain/run/write.ts'
import type { ScheduleRow, ScheduleRule, ScheduleStep } from '../../../src/domain/schedule/schedule.ts'
import { timetableOf } from '../../../src/language/timetable.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import type { Store } from '../../../src/store/store.ts'
import type { ScheduledRun, ScheduleOutcome, StartOutcome } from '../../../src/triggers/schedule-decision.ts'
import { Scheduler } from '../../../src/triggers/scheduler.ts'
import { ManualClock } from '../../support/clock.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { document } from '../../support/make.ts'
import { type Installed, install, logRow } from '../../support/store/installed.ts'

export const everyMinute: ScheduleRule = {
  cron: '* * * * *',
  intervalMs: null,
  timezone: 'UTC',
  startAt: null,
  endAt: null,
  overlap: 'skip',
  missed: 'once',
  missedMax: 10,
  jitterMs: 0,
}

type Started = { workflowId: string; dueAt: number; firedAt: number; executionId: string }

/** Schedules on a real store with a manual clock. Runs end immediately, or when the test ends them. */
export class ScheduleWorld {
  readonly clock: ManualClock
  readonly started: Started[] = []
  readonly outcomes: { dueAt: number; outcome: ScheduleOutcome }[] = []
  readonly troubles: unknown[] = []
  readonly store: Store
  readonly home: Installed
  readonly #folder: ReturnType<typeof temporaryFolder>
  readonly #windowMax: number | undefined
  #scheduler: Scheduler | undefined
  #sequence = 0
  /** Whether runs end as soon as they have started. */
  endsAtOnce = true
  /** The outcome of a start before anything is written; throws to fail. */
  beforeStart: () => StartOutcome | undefined = () => undefined
  random = 0
  failsToRead = false

  static async open(at: number, more: { windowMax?: number } = {}): Promise<ScheduleWorld> {
    const folder = temporaryFolder()
    const store = await openSqliteStore({ directory: folder.path, sync: 'normal', mode: 'direct' })
    return new ScheduleWorld(folder, store, await install(store), at, more.windowMax)
  }

  private constructor(
    folder: ReturnType<typeof temporaryFolder>,
    store: Store,
    home: Installed,
    at: number,
    windowMax: number | undefined,
  ) {
    this.#folder = folder
    this.store = store
    this.home = home
    this.clock = new ManualClock(at)
    this.#windowMax = windowMax
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#scheduler?.stop()
    await this.store.close()
    this.#folder[Symbol.dispose]()
  }

  /** Deploys a workflow with a schedule. Returns its id. */
  async deploy(rule: Partial<ScheduleRule>, workflowId?: string): Promise<string> {
    const whole = { ...everyMinute, ...rule }
    const id = workflowId ?? (await this.#workflow())
    const schedule = { rule: whole, dueAt: timetableOf(whole).next(this.clock.now()) }
    await this.store.deploy(id, document({ blocks: [] }), this.clock.now(), this.home.userId, {
      addresses: [],
      schedule,
    })
    await this.#told(id)
    return id
  }

  async undeploy(workflowId: string): Promise<void> {
    await this.store.undeploy(workflowId)
    await this.#told(workflowId)
  }

  /** Starts the service. `lastSeenAt`: the time of the previous service's last record. */
  async begin(lastSeenAt = 0): Promise<void> {
    let isDead = false
    this.#scheduler = new Scheduler({
      store: {
        ...this.store,
        listDueSchedules: async (limit, after) => {
          if (this.failsToRead) throw new Error('The disk is broken')
          return this.store.listDueSchedules(limit, after)
        },
      },
      clock: this.clock,
      random: () => this.random,
      start: async (run, step) => {
        if (isDead) throw new Error('The service was killed')
        return this.beforeStart() ?? (await this.#start(run, step))
      },
      take: async (step) => {
        if (isDead) throw new Error('The service was killed')
        return (await this.store.append([{ kind: 'schedule', step }])) === undefined
      },
      prepare: () => undefined,
      onResolved: (_row: ScheduleRow, dueAt, outcome) => this.outcomes.push({ dueAt, outcome }),
      onTrouble: (error) => this.troubles.push(error),
      lastSeenAt,
      ...(this.#windowMax === undefined ? {} : { windowMax: this.#windowMax }),
    })
    this.#kill = () => {
      isDead = true
    }
    await this.#scheduler.open()
    await this.settled()
  }

  /** Ends the service like `kill -9`: nothing more reaches the store. */
  async kill(): Promise<void> {
    this.#kill()
    await this.#scheduler?.stop()
    this.#scheduler = undefined
  }
  #kill = () => {}

  /** Advances time second by second, as far as any timer is set. */
  async pass(ms: number): Promise<void> {
    const end = this.clock.now() + ms
    while (this.clock.now() < end) {
      const left = end - this.clock.now()
      this.clock.advance(Math.min(left, this.clock.nextInMs ?? left))
      await this.settled()
    }
  }

  /** Sets the system clock. */
  async jump(at: number): Promise<void> {
    this.clock.setNow(at)
    await this.pass(1_000)
  }

  async end(executionId: string): Promise<void> {
    const run = this.started.find((each) => each.executionId === executionId)!
    this.#sequence += 1
    const row = logRow(this.home, this.#sequence, { executionId, workflowId: run.workflowId, createdAt: run.firedAt })
    await this.store.append([logWrite(row)])
    this.#scheduler?.ended(run.workflowId, executionId)
    await this.settled()
  }

  get dueTimes(): number[] {
    return this.started.map(({ dueAt }) => dueAt)
  }

  /** Waits until nothing is in progress. The store responds immediately, so a few turns without a change are enough. */
  async settled(): Promise<void> {
    const news = () => this.started.length + this.outcomes.length + this.#sequence
    for (let [quiet, seen] = [0, news()]; quiet < 5; quiet += 1) {
      await new Promise((resolve) => setImmediate(resolve))
      if (news() === seen) continue
      quiet = 0
      seen = news()
    }
  }

  async #start({ row, dueAt, executionId }: ScheduledRun, step: ScheduleStep): Promise<StartOutcome> {
    const { workflowId, workspaceId, version } = row
    const firedAt = this.clock.now()
    const job = { executionId, workflowId, workspaceId, version, trigger: 'schedule' as const, createdAt: firedAt }
    const refusals = await this.store.append([
      { kind: 'job', row: { ...job, startedAt: firedAt, input: Uint8Array.of(1) }, claim: { kind: 'schedule', step } },
    ])
    if (refusals) return 'refused'
    this.started.push({ workflowId, dueAt, firedAt, executionId })
    if (this.endsAtOnce) setImmediate(() => void this.end(executionId))
    return 'started'
  }

  async #workflow(): Promise<string> {
    const draft = document({ name: newExecutionId(), blocks: [] })
    const { workspaceId } = this.home
    return (await this.store.createWorkflow({ id: null, workspaceId, document: draft, at: 1 })).id
  }

  async #told(workflowId: string): Promise<void> {
    this.#scheduler?.changed(workflowId)
    await this.settled()
  }
}
