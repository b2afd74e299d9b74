import type { RequestClaim } from '../domain/run/claim.ts'
import type { RunRecord, RunWebhooks } from '../domain/run/log.ts'

export type RunRecorderOptions = {
  /** The webhook deliveries of a run; undefined when its workflow has no subscriptions. */
  webhooksOf(record: RunRecord): RunWebhooks | undefined | Promise<RunWebhooks | undefined>
  /** Resolves when the log entry is on disk, together with the deliveries and the claim. */
  append(record: RunRecord, claim?: RequestClaim, webhooks?: RunWebhooks): Promise<unknown>
  /** Called when a run has ended, before anything is written. */
  onEnded(record: RunRecord): void
  /** Called when the log entry is on disk. */
  onRecorded(record: RunRecord): void
}

/** Records runs that ended. Resolves when the log entry is on disk and `onRecorded` has been called. */
export function createRunRecorder({ webhooksOf, append, onEnded, onRecorded }: RunRecorderOptions) {
  return (record: RunRecord, claim?: RequestClaim): Promise<void> => {
    onEnded(record)
    const webhooks = webhooksOf(record)
    const written =
      webhooks instanceof Promise
        ? webhooks.then((resolved) => append(record, claim, resolved))
        : append(record, claim, webhooks)
    return written.then(() => onRecorded(record))
  }
}
