import type { Static } from '@sinclair/typebox'
import type { DeployAnswer } from '../http/answers.ts'

/** How a workflow that is deployed is started by others than its callers, a line each. */
export function startedBy({
  schedule,
  webhookUrl,
  chatUrl,
}: Pick<Static<typeof DeployAnswer>, 'schedule' | 'webhookUrl' | 'chatUrl'>): string[] {
  const [next] = schedule?.next ?? []
  return [
    ...(schedule ? [next === undefined ? 'It is never due.' : `It is due next at ${next}.`] : []),
    ...(webhookUrl === undefined ? [] : [`It takes webhooks at ${webhookUrl}`]),
    ...(chatUrl === undefined ? [] : [`People talk to it at ${chatUrl}`]),
  ]
}
