import { noEnvironment } from '../../domain/account/environment.ts'
import { AppError } from '../../domain/errors.ts'
import { type SenderCheck, VariableMissing } from '../../triggers/webhook-sender.ts'
import type { WebhookServices } from '../run-services.ts'

export type SenderServices = Pick<WebhookServices, 'clock' | 'environmentOf' | 'logger'>

export type SenderOptions = SenderServices & {
  workflowId: string
  workspaceId: string
  /** Counts a request that is refused. Throws when its sender has been refused too often. */
  refused(): void
}

/** Verifies the sender of a request over the bytes of its body. Throws `INVALID_API_KEY` or `INVALID_SIGNATURE`. */
export async function assertSender(
  { headers }: Request,
  body: Uint8Array,
  sender: SenderCheck,
  { environmentOf, clock, logger, workflowId, workspaceId, refused }: SenderOptions,
): Promise<void> {
  const { values } = sender.needsEnvironment ? await environmentOf(workspaceId) : noEnvironment
  try {
    sender.check({ headers, body }, values, clock.now())
  } catch (error) {
    refused()
    if (!(error instanceof VariableMissing)) throw error
    const { variable } = error
    logger.error('a webhook refuses everything: the variable of its secret is not set', { workflowId, variable })
    const message =
      "The sender cannot be verified: this webhook's secret is not configured. The service's log names it."
    throw new AppError('INVALID_SIGNATURE', message, { cause: error })
  }
}
