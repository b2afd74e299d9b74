import { evaluate } from '../domain/alert/evaluate.ts'
import type { AlertBatch, AlertEvaluation } from '../domain/alert/evaluation.ts'
import type { Clock, Timer } from '../domain/clock.ts'
import { isRefusedForNow } from '../domain/errors.ts'
import { newExecutionId } from '../domain/ids.ts'
import type { Store } from '../store/store.ts'

export type EvaluatorOptions = {
  store: Pick<Store, 'findAlertWork' | 'readAlertBatch' | 'sharesStarts'>
  /** Writes an evaluation. False when something changed since its batch was read. */
  write(evaluation: AlertEvaluation): Promise<boolean>
  /** Starts runs that wait for it. */
  startRuns(): Promise<void>
  /** Whether this process evaluates. Of several processes, one does. */
  isLeader(): boolean
  clock: Clock
  onTrouble(cause: unknown): void
}

/**
 * Evaluates alerts and event triggers in the background. Runs do nothing for it: it reads the log entries that were
 * written since the last evaluation. A batch decides what fires, and the store writes the result in one transaction,
 * which also moves the cursor of the workspace. So after a crash, or with a second evaluator, nothing fires twice.
 *
 * While nothing is watched in any workspace, it sleeps until `nudge`, or looks rarely if other processes may change
 * that.
 */
export class AlertEvaluator {
  readonly #options: EvaluatorOptions
  #timer: Timer | undefined
  #turn: Promise<void> | undefined
  #isNudged = false
  #isOpen = false
  #isTroubled = false

  constructor(options: EvaluatorOptions) {
    this.#options = options
  }

  open(): void {
    this.#isOpen = true
    this.nudge()
  }

  /** Call it after a change of alerts or of active versions, and when this process becomes the leader. */
  readonly nudge = (): void => {
    if (!this.#isOpen) return
    this.#timer?.cancel()
    this.#isNudged = true
    this.#turn ??= this.#takeTurn()
  }

  /** Starts no further evaluation, and waits for the one in progress. */
  async stop(): Promise<void> {
    this.#isOpen = false
    this.#timer?.cancel()
    await this.#turn
  }

  /** Never rejects. */
  async #takeTurn(): Promise<void> {
    let nextMs: number | undefined
    while (this.#isNudged && this.#isOpen) {
      this.#isNudged = false
      nextMs = await this.#work()
    }
    this.#turn = undefined
    if (!this.#isOpen || nextMs === undefined) return
    this.#timer = this.#options.clock.setTimer(nextMs, this.nudge)
  }

  /** Returns when to look again; undefined: after the next change. */
  async #work(): Promise<number | undefined> {
    const { store, startRuns, isLeader, clock, onTrouble } = this.#options
    if (!isLeader()) return idleMs
    try {
      const { isWatched, hasStarts, workspaceIds } = await store.findAlertWork(clock.now())
      let isBehind = false
      for (const workspaceId of workspaceIds) {
        if (await this.#evaluate(workspaceId)) isBehind = true
      }
      if (hasStarts || workspaceIds.length > 0) await startRuns()
      this.#isTroubled = false
      if (isBehind && this.#isOpen) this.#isNudged = true
      if (isWatched || hasStarts) return everyMs
      return store.sharesStarts ? idleMs : undefined
    } catch (error) {
      if (!this.#isTroubled || !isRefusedForNow(error)) onTrouble(error)
      this.#isTroubled = true
      return retryMs
    }
  }

  /**
   * Returns whether there is more to evaluate at once. A busy workspace is evaluated in few large batches: a small one
   * costs almost as much.
   */
  async #evaluate(workspaceId: string): Promise<boolean> {
    const { store, write, clock } = this.#options
    if (!this.#isOpen) return false
    const now = clock.now()
    const batch = await store.readAlertBatch(workspaceId, now, batchMax)
    if (!batch) return false
    return (await write(evaluate(batch, now, newExecutionId))) && isFull(batch)
  }
}

const isFull = ({ events, hasMore }: AlertBatch) => hasMore || events.length === batchMax

/** How often the log is read while an alert or event trigger is active. */
const everyMs = 1_000
/** How often to check whether another process, or a change of the leader, has caused work. */
const idleMs = 5_000
const retryMs = 1_000
/** Runs and events in one evaluation. */
const batchMax = 1_000
