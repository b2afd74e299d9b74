import type { Environment } from '../../domain/account/environment.ts'
import type { RequestClaim } from '../../domain/run/claim.ts'
import type { RunRecord } from '../../domain/run/log.ts'
import type { StoredPause } from '../../domain/run/pause.ts'
import type { RunObserver } from '../../domain/run/run-observer.ts'
import type { RunFacts } from '../block.ts'
import type { Deployment } from '../deployments.ts'
import type { Capabilities } from './run.ts'
import type { PauseSeal } from './run-pauses.ts'
import type { OpeningPause, PausedRun, StepWriter } from './run-request.ts'

export type RunnerOptions = {
  capabilities: Omit<Capabilities, 'memory' | 'runWorkflow' | 'describeWorkflow'>
  /** Writes the log entry and the claim. The run counts as in flight until this resolves. */
  record(record: RunRecord, claim?: RequestClaim): Promise<unknown>
  /** The deployment of a workflow that another one calls: the active one, or a given version. */
  deploymentOf(workflowId: string, version?: number): Promise<Deployment | undefined>
  /**
   * Returns no promise when the environment is in memory. Called for every run: its redactor hides secrets in any
   * input.
   */
  environmentOf(workspaceId: string): Environment | Promise<Environment>
  /**
   * Makes an asynchronous run of one with a waiting caller, which is paused. Resolves when it is on disk. Such runs
   * cannot pause when absent.
   */
  pause?(run: PausedRun): Promise<void>
  /**
   * Writes a pause of a run that goes on. If the run has a waiting caller, this makes an asynchronous run of it: `held`
   * are the steps that it has recorded. Returns how further steps are written.
   */
  openPause?(opening: OpeningPause): Promise<StepWriter>
  /** Rejects with the block's error when the workspace has too many pauses. */
  admitPause?(workspaceId: string): Promise<void>
  /** Called when a pause has ended while its run was in memory. */
  resumed?(run: RunFacts, ended: StoredPause): Promise<void>
  sealPauses?(executionId: string): PauseSeal
  /** The observer that waits for an asynchronous run to begin. */
  awaiting?(executionId: string): RunObserver | undefined
}
