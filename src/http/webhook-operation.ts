import { Type as t } from '@sinclair/typebox'
import type { WebhookMethod } from '../domain/webhook/webhook-trigger.ts'
import { RunResponse } from './execute-operation.ts'
import { operation } from './operation.ts'

/** The response to a request that starts a run. */
export const WebhookAccepted = t.Object(
  { success: t.Literal(true), executionId: t.String() },
  { $id: 'WebhookAccepted' },
)

/** The response to one that was taken before. */
export const WebhookDuplicate = t.Object(
  { ...WebhookAccepted.properties, duplicate: t.Literal(true) },
  { $id: 'WebhookDuplicate' },
)

/** The response to a sender that wants its challenge back before it sends anything. */
export const WebhookChallenge = t.Object({ challenge: t.String() }, { $id: 'WebhookChallenge' })

/** An inbound webhook's part of the OpenAPI document; the route checks and responses without schemas. */
export function webhookDetail(method: WebhookMethod) {
  const name = `${method.charAt(0)}${method.slice(1).toLowerCase()}`
  const detail = operation({
    name: `receiveWebhook${name}`,
    summary: `Start a workflow from another service (${method})`,
    description:
      'The address of a workflow with a webhook trigger that is deployed and takes this method. Whether and how a sender ' +
      'proves who it is, is a parameter of the trigger: a bearer token, a header, or the signature of GitHub, Stripe, ' +
      'Slack or Standard Webhooks. JSON, forms, multipart forms and text are read; anything else is a file.\n\n' +
      'The response is 202 when the run is on disk, or what the workflow responses, as from the execute endpoint. With ' +
      'idempotency a request that was taken in the last 24 hours is responded to with 200 and the id of its run, and starts ' +
      'nothing; where the workflow responses, one that comes while the first one runs waits for it, and gets the same ' +
      'response when it fails, after which the request may be sent again.',
    tag: 'Executions',
    access: 'everyone',
    errors: [
      ...(['INVALID_JSON', 'INVALID_INPUT', 'INVALID_API_KEY', 'INVALID_SIGNATURE', 'USAGE_LIMIT_EXCEEDED'] as const),
      ...(['NOT_FOUND', 'METHOD_NOT_ALLOWED', 'RATE_LIMIT_EXCEEDED', 'OVERLOADED', 'STORAGE_UNAVAILABLE'] as const),
      ...(['EXECUTION_FAILED', 'EXECUTION_TIMEOUT'] as const),
    ],
  })
  const body = method === 'GET' || method === 'DELETE' ? {} : { requestBody: { content: json(t.Unknown()) } }
  return {
    ...detail,
    ...body,
    responses: {
      200: {
        description: 'The request was taken before, or the run succeeded, or the challenge of a sender is said back.',
        content: json(t.Union([WebhookDuplicate, RunResponse, WebhookChallenge])),
      },
      202: { description: 'The run is on disk and waits for its turn.', content: json(WebhookAccepted) },
      default: { description: "What the workflow's response block says: its status, headers and body." },
    },
  }
}

/** The plugin's types know schemas of OpenAPI 3.0 only; TypeBox's are JSON schemas, as 3.1 has them. */
function json(schema: object): { 'application/json': { schema: Record<string, never> } } {
  return { 'application/json': { schema: schema as Record<string, never> } }
}
