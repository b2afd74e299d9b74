import type { Logger } from './logger.ts'

/**
 * A bug that nobody caught still ends the process with 1; what it says is a line like any other, without secrets. Left to
 * itself the runtime would print the error as it is, with the source around it.
 */
export function tellLastWords(logger: Pick<Logger, 'error'>): void {
  const end = (cause: unknown) => {
    logger.error('the service broke', { cause })
    process.exit(1)
  }
  process.on('uncaughtException', end)
  // Bun does not hand these to the other one.
  process.on('unhandledRejection', end)
}
