import { AppError } from '../../domain/errors.ts'

/** No job is accepted because the service is stopping. */
export function stoppingRefusal(): AppError {
  return new AppError('OVERLOADED', 'The service is stopping. Try again in a moment.', { retryAfterS: 5 })
}

/** No job is accepted because the queue is full. */
export function fullRefusal(waitingMax: number): AppError {
  const message = `${waitingMax} asynchronous runs are waiting, the most that MILLRACE_JOBS_WAITING_MAX allows. Try again later.`
  return new AppError('OVERLOADED', message, { retryAfterS: 10 })
}

/** A job was cancelled, but its log entry could not be written. */
export function unwrittenRefusal(): AppError {
  const message = 'The run has been stopped, but the disk does not accept its log entry yet. Try again in a moment.'
  return new AppError('STORAGE_UNAVAILABLE', message, { retryAfterS: 1 })
}
