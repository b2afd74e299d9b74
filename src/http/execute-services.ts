import type { AccountLimits } from '../accounts/limits.ts'
import type { Clock } from '../domain/clock.ts'
import type { Deployment } from '../engine/deployments.ts'
import type { JobRequest } from '../engine/jobs/jobs.ts'
import type { RunEnd, RunRequest } from '../engine/run/runner.ts'
import type { ReceiveFiles } from '../files/upload.ts'

/** What the execute endpoint stands on; everything in it responses from memory once it is warm. */
export type ExecuteServices = {
  clock: Clock
  deployments: {
    get(workflowId: string): Deployment | undefined
    load(workflowId: string): Promise<Deployment | undefined>
  }
  execute(request: RunRequest): Promise<RunEnd>
  /** Throws OVERLOADED or STORAGE_UNAVAILABLE before anything has run. */
  assertAccepting(): void
  /** The same for asynchronous ones. */
  assertAcceptingJobs(): void
  receiveFiles: ReceiveFiles
  /** Takes an asynchronous run on; resolves when it is on disk. Rejects like `assertAccepting`. */
  accept(request: JobRequest): Promise<{ executionId: string; createdAt: number }>
  /** Those of the workspace's owner count, whichever key is used. */
  limits: Pick<AccountLimits, 'account' | 'take' | 'peek' | 'assertWithinUsage'>
  settings: RunSettings
}

/** What every endpoint that starts runs and may stream them is set to. */
export type RunSettings = {
  bodyBytesMax: number
  /** Of a workflow whose trigger declares files. */
  bodyBytesMaxFiles: number
  cancelOnDisconnect: boolean
  /** Text that waits for a slow reader of a stream at most. */
  streamBufferBytes: number
}
