import type { JobState } from '../../../domain/run/job.ts'
import type { RunStatus } from '../../../domain/run/log.ts'

/** The status of a run that has ended, by that of its log entry. */
export const statusesOfLog: Readonly<Record<RunStatus, 'completed' | 'failed' | 'cancelled'>> = {
  success: 'completed',
  error: 'failed',
  cancelled: 'cancelled',
}

/** The status of an asynchronous run that has not ended. */
export function openStatusV2(state: JobState): 'pending' | 'running' | 'paused' {
  if (state === 'queued') return 'pending'
  return state === 'paused' ? 'paused' : 'running'
}
