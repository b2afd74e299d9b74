import type { Logger } from './logger.ts'

/**
 * Logs an uncaught error as a normal log line, without secrets, and exits with 1. By default, the runtime would print
 * the error with its source code.
 */
export function handleCrashes(logger: Pick<Logger, 'error'>): void {
  const end = (cause: unknown) => {
    logger.error('the service crashed', { cause })
    process.exit(1)
  }
  process.on('uncaughtException', end)
  // Bun does not report these as uncaught exceptions.
  process.on('unhandledRejection', end)
}
