import type { RequestClaim } from '../../domain/run/claim.ts'
import type { TriggerInput } from '../../domain/run/input.ts'
import type { RunRecord, RunSource } from '../../domain/run/log.ts'
import type { NewPause, StoredPause } from '../../domain/run/pause.ts'
import type { RunObserver } from '../../domain/run/run-observer.ts'
import type { StartKind } from '../../domain/workflow/workflow.ts'
import type { RunFacts } from '../block.ts'
import type { Plan, PlanNode } from '../compile/plan.ts'
import type { PartialRun } from './contracts.ts'
import type { RunEnd } from './run-end.ts'
import type { StepHistory } from './step-history.ts'

export type RunRequest = {
  plan: Plan
  workflowId: string
  workspaceId: string
  version: number
  /** The kind of trigger that the run starts at. */
  trigger: StartKind
  /** Already checked against the trigger's input format. */
  input: TriggerInput
  /** A new one when absent. */
  executionId?: string
  /** The network of a visitor, who sent no credential. Visitors share the slots of the workspace. */
  visitor?: string | undefined
  timeoutMs?: number
  /** How long the caller has waited in the queue of the workflow's limits. This counts toward the time limit. */
  queuedMs?: number
  /** Whether a newer start has already replaced this run. */
  isReplaced?: () => boolean
  /** When an asynchronous run was accepted. Epoch milliseconds. */
  createdAt?: number
  /** When a resumed run first started; its timeout counts from then. Epoch milliseconds. */
  startedAt?: number
  /** How long a resumed run was suspended because of the memory of all runs. Its timeout does not count this time. */
  waitedMs?: number
  /** The memory for the input of an asynchronous run. The body of a request is counted elsewhere. */
  inputBytes?: number
  /** Set for a run that is suspended, not ended, when the service stops. */
  history?: StepHistory
  /** The pauses that a resumed run had. */
  knownPauses?: readonly StoredPause[]
  /** Written with the log entry, unless the run failed: the sender may then try again. */
  claim?: RequestClaim
  /** Completes the claim of a run that succeeded. */
  completeClaim?: (claim: RequestClaim, end: RunEnd) => Promise<RequestClaim>
  observer?: RunObserver
  /** The trigger at which a manual run begins; the one of the kind `trigger` when absent. */
  entry?: PlanNode
  /** Set for a manual run of a part of the workflow. */
  partial?: PartialRun
  source?: RunSource
  /**
   * Aborts when the caller disconnects. Called only when the run has to wait; undefined when no caller can disconnect.
   */
  callerSignal?: () => AbortSignal | undefined
  /** Called when the caller has disconnected: true lets the run continue. */
  goesOnAlone?: () => boolean
}

/** A run with a waiting caller that is paused. */
export type PausedRun = {
  request: RunRequest
  record: RunRecord
  /** Undefined when the run has become an asynchronous one before. */
  history: StepHistory | undefined
  pauses: readonly NewPause[]
}

/** A pause that opens while its run goes on. `held`: the steps of a run that is not an asynchronous one yet. */
export type OpeningPause = {
  request: RunRequest
  facts: RunFacts
  startedAt: number
  held: readonly string[] | undefined
  pause: NewPause
}

export type StepWriter = (number: number, text: string) => Promise<void>
