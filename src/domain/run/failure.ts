import type { RunFailure } from './log.ts'

/** Whether something outside of the run ended it: a user, the service, or a caller who left. */
export function isCancelled({ code }: Pick<RunFailure, 'code'>): boolean {
  return code === 'CANCELLED' || code === 'CLIENT_CLOSED'
}
