import { sequenceAt } from '../domain/ids.ts'
import { inspectOutbox } from '../store/sqlite/inspect-outbox.ts'
import { databasePath } from '../store/sqlite/open.ts'
import type { Diagnosis } from './doctor.ts'
import { count } from './size.ts'

const dayMs = 86_400_000
/** A delivery leaves when it is due; one that is so late waits for something that is wrong. */
const lateMs = 5 * 60_000

/** Whether webhooks get through. Nothing to say when there are none. */
export function examineWebhooks(folder: string, now: number): Diagnosis[] {
  const check = 'webhooks'
  const state = inspectOutbox(databasePath(folder), Math.max(0, sequenceAt(now - dayMs)))
  if (!state) return []
  const { pending, oldestDueAt, failed, webhooks, withoutSecret } = state
  const warnings: Diagnosis[] = []
  const warn = (message: string, advice: string) => warnings.push({ check, state: 'warning', message, advice })
  if (withoutSecret > 0) {
    warn(
      `${count(withoutSecret, 'webhook')} of ${webhooks} had a secret that is lost; nothing is delivered there.`,
      'Set the secret anew: in the editor, or with the document of the workflow.',
    )
  }
  if (oldestDueAt !== null && oldestDueAt < now - lateMs) {
    const since = new Date(oldestDueAt).toISOString()
    warn(
      `${count(pending, 'delivery', 'deliveries')} pending, and the oldest has been due since ${since}.`,
      'They leave while the service runs. If it does, look for receivers that hang, and for errors in its log.',
    )
  }
  if (failed > 0) {
    warn(
      `${count(failed, 'delivery', 'deliveries')} of the last day failed for good.`,
      'GET /api/workflows/<id>/deliveries?state=failed says why; POST …/resend-failed sends them again.',
    )
  }
  if (warnings.length > 0 || webhooks + pending === 0) return warnings
  const message = `${count(webhooks, 'webhook')}; ${count(pending, 'delivery', 'deliveries')} pending, none failed in a day.`
  return [{ check, state: 'ok', message }]
}
