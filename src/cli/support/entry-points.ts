import type { Static } from '@sinclair/typebox'
import type { DeployResponse } from '../../http/responses/workflow-schemas.ts'

/** How a deployed workflow is started other than by the API, one line each. */
export function entryPointLines({
  schedule,
  webhookUrl,
  chatUrl,
  formUrl,
}: Pick<Static<typeof DeployResponse>, 'schedule' | 'webhookUrl' | 'chatUrl' | 'formUrl'>): string[] {
  const [next] = schedule?.next ?? []
  return [
    ...(schedule ? [next === undefined ? 'Its schedule has no further runs.' : `Its next run is at ${next}.`] : []),
    ...(webhookUrl === undefined ? [] : [`It receives webhooks at ${webhookUrl}`]),
    ...(chatUrl === undefined ? [] : [`Its chat is at ${chatUrl}`]),
    ...(formUrl === undefined ? [] : [`Its form is at ${formUrl}`]),
  ]
}
