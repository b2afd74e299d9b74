import type { HttpSettings, WorkflowCheck } from '../services.ts'
import { isoTime } from './schema-parts.ts'

/** The triggers of a workflow besides the execute endpoint, for a response. Empty when there are none. */
export function triggerFacts(
  { nextTimes, registrations }: Pick<WorkflowCheck, 'nextTimes' | 'registrations'>,
  { baseUrl }: Pick<HttpSettings, 'baseUrl'>,
): { schedule?: { next: string[] }; webhookUrl?: string; chatUrl?: string } {
  const hook = registrations.addresses.find(({ kind }) => kind === 'webhook')
  const chat = registrations.addresses.find(({ kind }) => kind === 'chat')
  return {
    ...(nextTimes ? { schedule: { next: nextTimes.map(isoTime) } } : {}),
    ...(hook ? { webhookUrl: `${baseUrl()}/api/webhooks/trigger/${hook.name}` } : {}),
    ...(chat ? { chatUrl: `${baseUrl()}/chat/${chat.name}` } : {}),
  }
}
