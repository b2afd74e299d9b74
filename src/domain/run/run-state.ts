/** Where a run is, in a few words. `output`: JSON, when it succeeded; `error`: when it did not. */
export type RunState = {
  workflowId: string
  status: 'queued' | 'processing' | 'paused' | 'completed' | 'failed' | 'cancelled'
  output?: string
  error?: string
}
