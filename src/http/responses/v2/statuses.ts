import type { JobState } from '../../../domain/run/job.ts'

/** The status of an asynchronous run that has not ended. */
export function openStatusV2(state: JobState): 'pending' | 'running' | 'paused' {
  if (state === 'queued') return 'pending'
  return state === 'paused' ? 'paused' : 'running'
}
