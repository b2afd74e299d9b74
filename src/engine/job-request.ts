import type { TriggerInput } from '../domain/input.ts'
import type { TriggerKind } from '../domain/workflow.ts'

/** A run that is to be accepted as a job. */
export type JobRequest = {
  workflowId: string
  workspaceId: string
  version: number
  trigger: TriggerKind
  input: TriggerInput
  /** A new one when absent. */
  executionId?: string
}
