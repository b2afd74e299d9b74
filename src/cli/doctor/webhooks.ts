import { sequenceAt } from '../../domain/ids.ts'
import type { OutboxState } from '../../store/inspection.ts'
import { count } from '../support/size.ts'
import type { Diagnosis } from './diagnosis.ts'

const dayMs = 86_400_000
/** The service sends a delivery when it is due, so a longer delay indicates a fault. */
const lateMs = 5 * 60_000

/** From here on, failed deliveries are reported. */
export function failedSince(now: number): number {
  return Math.max(0, sequenceAt(now - dayMs))
}

/** Checks whether webhook deliveries succeed. Reports nothing without webhook subscriptions. */
export function examineWebhooks(state: OutboxState | undefined, now: number): Diagnosis[] {
  const check = 'webhooks'
  if (!state) return []
  const { pending, oldestDueAt, failed, webhooks, withoutSecret } = state
  const warnings: Diagnosis[] = []
  const warn = (message: string, advice: string) => warnings.push({ check, state: 'warning', message, advice })
  if (withoutSecret > 0) {
    warn(
      `Webhook subscriptions without their secret: ${withoutSecret} of ${webhooks}. They send no deliveries.`,
      'Set the secret again, in the editor or in the workflow document.',
    )
  }
  if (oldestDueAt !== null && oldestDueAt < now - lateMs) {
    const since = new Date(oldestDueAt).toISOString()
    warn(
      `${count(pending, 'delivery', 'deliveries')} pending; the oldest has been due since ${since}.`,
      'The service sends them while it runs. If it runs, look for hanging receivers and for errors in its log.',
    )
  }
  if (failed > 0) {
    warn(
      `${count(failed, 'delivery', 'deliveries')} of the last day failed permanently.`,
      'GET /api/workflows/<id>/deliveries?state=failed shows the reason; POST …/resend-failed sends them again.',
    )
  }
  if (warnings.length > 0 || webhooks + pending === 0) return warnings
  const deliveries = `${count(pending, 'delivery', 'deliveries')} pending, none failed in a day.`
  const message = `${count(webhooks, 'webhook subscription')}; ${deliveries}`
  return [{ check, state: 'ok', message }]
}
