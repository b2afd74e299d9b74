import type { Static } from '@sinclair/typebox'
import type { DeployResponse } from '../http/responses.ts'

/** How a workflow that is deployed is started by others than its callers, a line each. */
export function startedBy({
  schedule,
  webhookUrl,
  chatUrl,
}: Pick<Static<typeof DeployResponse>, 'schedule' | 'webhookUrl' | 'chatUrl'>): string[] {
  const [next] = schedule?.next ?? []
  return [
    ...(schedule ? [next === undefined ? 'It is never due.' : `It is due next at ${next}.`] : []),
    ...(webhookUrl === undefined ? [] : [`It takes webhooks at ${webhookUrl}`]),
    ...(chatUrl === undefined ? [] : [`People talk to it at ${chatUrl}`]),
  ]
}
