/** The state of a run. `output`: JSON, if the run succeeded. `error`: if it did not. */
export type RunState = {
  workflowId: string
  status: 'queued' | 'processing' | 'paused' | 'completed' | 'failed' | 'cancelled'
  output?: string
  error?: string
}
