import { environmentWith, ownProgram } from '../config.ts'
import { fetchCap, fetchCapVariable } from '../outbound/fetch-cap.ts'

/**
 * Executes this program again with a higher limit of concurrent `fetch` calls, if it starts the service and the
 * environment does not set the limit. The new program replaces this one: process id, standard streams and signal
 * handling stay. It costs about as much as the start of an empty program, so call this before anything else is loaded.
 */
export function raiseFetchCap(
  words: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): void {
  const [command = 'serve'] = words
  const isService = command === 'serve' || command.startsWith('-')
  if (!isService || environment[fetchCapVariable] !== undefined) return
  try {
    process.execve?.(process.execPath, [...ownProgram(), ...words], environmentWith({ [fetchCapVariable]: fetchCap }))
  } catch {
    // The service works without it; then 256 requests at most are in flight.
  }
}
