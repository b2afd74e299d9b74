import type { TriggerKind } from '../workflow/workflow.ts'

/** The state of a run. `trigger`: if it has ended. `output`: JSON, if it succeeded. `error`: if it did not. */
export type RunState = {
  workflowId: string
  status: 'queued' | 'processing' | 'paused' | 'completed' | 'failed' | 'cancelled'
  trigger?: TriggerKind
  output?: string
  error?: string
}
