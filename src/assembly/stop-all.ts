import { messageOf } from '../domain/errors.ts'
import type { Logger } from '../telemetry/logger.ts'

type Part = readonly [name: string, stop: () => unknown]

/** Stops the parts in order. If one fails to stop, for example because the disk is full, that is logged. */
export async function stopAll(logger: Logger, parts: readonly Part[]): Promise<void> {
  for (const [part, stop] of parts) {
    try {
      await stop()
    } catch (error) {
      logger.error('a part of the service failed while it was stopping', { part, reason: messageOf(error) })
    }
  }
}
