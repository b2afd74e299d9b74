import type { HttpSettings, WorkflowCheck } from '../services.ts'
import { isoTime } from './schema-parts.ts'

/** The triggers of a workflow besides the execute endpoint, for a response. Empty when there are none. */
export function triggerFacts(
  { nextTimes, registrations }: Pick<WorkflowCheck, 'nextTimes' | 'registrations'>,
  { baseUrl }: Pick<HttpSettings, 'baseUrl'>,
): { schedule?: { next: string[] }; webhookUrl?: string; chatUrl?: string; formUrl?: string } {
  const hook = registrations.addresses.find(({ kind }) => kind === 'webhook')
  const chat = registrations.addresses.find(({ kind }) => kind === 'chat')
  const form = registrations.addresses.find(({ kind }) => kind === 'form')
  return {
    ...(nextTimes ? { schedule: { next: nextTimes.map(isoTime) } } : {}),
    ...(hook ? { webhookUrl: `${baseUrl()}/api/webhooks/trigger/${hook.name}` } : {}),
    ...(form ? { formUrl: `${baseUrl()}/form/${form.name}` } : {}),
    ...(chat ? { chatUrl: `${baseUrl()}/chat/${chat.name}` } : {}),
  }
}
