import { messageOf } from '../domain/errors.ts'
import type { Logger } from '../telemetry/logger.ts'

type Part = readonly [name: string, stop: () => unknown]

/** Stops parts one after the other. A part that fails to stop, because the disk is full for example, is logged. */
export async function stopAll(logger: Logger, parts: readonly Part[]): Promise<void> {
  for (const [part, stop] of parts) {
    try {
      await stop()
    } catch (error) {
      logger.error('a part of the service did not stop well', { part, reason: messageOf(error) })
    }
  }
}
