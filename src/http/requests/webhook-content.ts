import { readWebhookBody, type WebhookContent } from '../../triggers/webhook-body.ts'
import { countValues } from './body.ts'
import { uncountedBytes } from './body-budget.ts'
import type { BodyLimits } from './body-limits.ts'

/** Parses the body of a webhook. A large one waits for its turn, and its values count in the budget. */
export function readContent(
  request: Request,
  bytes: Uint8Array<ArrayBuffer>,
  limits: BodyLimits,
): Promise<WebhookContent> {
  const { headers } = request
  if (bytes.byteLength <= uncountedBytes) return readWebhookBody(bytes, headers, limits)
  const count = countValues(request, limits)
  return limits.turns.run(() => readWebhookBody(bytes, headers, { ...limits, count }))
}
