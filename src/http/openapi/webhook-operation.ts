import { Type as t } from '@sinclair/typebox'
import type { WebhookMethod } from '../../domain/webhook/webhook-trigger.ts'
import { SkippedResponse } from '../errors.ts'
import { jsonContent } from './content.ts'
import { RunResponse } from './execute-operation.ts'
import { operation } from './operation.ts'
import { traceParameters } from './trace-parameters.ts'

/** The response to a request that starts a run. */
export const WebhookAccepted = t.Object(
  { success: t.Literal(true), executionId: t.String() },
  { $id: 'WebhookAccepted' },
)

/** The response to a duplicate request. */
export const WebhookDuplicate = t.Object(
  { ...WebhookAccepted.properties, duplicate: t.Literal(true) },
  { $id: 'WebhookDuplicate' },
)

/** The response to a sender's verification challenge. */
export const WebhookChallenge = t.Object({ challenge: t.String() }, { $id: 'WebhookChallenge' })

/** The inbound webhook routes in the OpenAPI document. The routes check and respond without schemas. */
export function webhookDetail(method: WebhookMethod) {
  const name = `${method.charAt(0)}${method.slice(1).toLowerCase()}`
  const detail = operation({
    name: `receiveWebhook${name}`,
    summary: `Start a workflow from another service (${method})`,
    description:
      'The address of a deployed workflow whose webhook trigger accepts this method. The trigger sets how a sender is ' +
      'verified: not at all, by a bearer token, by a header, or by the signature scheme of GitHub, Stripe, Slack or ' +
      'Standard Webhooks. JSON, forms, multipart forms and text are parsed; any other body is a file.\n\n' +
      'The response is 202 when the run is on disk. With `respond: workflow` it is the response that the execute endpoint ' +
      'would send. With idempotency, a duplicate within 24 hours gets 200 with the id of the first run, and starts ' +
      'nothing. With `respond: workflow`, a duplicate that arrives during the first run waits for it; if that run fails, ' +
      'the duplicate gets the same response, and the request may be sent again.',
    tag: 'Executions',
    access: 'everyone',
    errors: [
      ...(['INVALID_JSON', 'INVALID_INPUT', 'INVALID_API_KEY', 'INVALID_SIGNATURE', 'USAGE_LIMIT_EXCEEDED'] as const),
      ...(['NOT_FOUND', 'METHOD_NOT_ALLOWED', 'RATE_LIMIT_EXCEEDED', 'OVERLOADED', 'STORAGE_UNAVAILABLE'] as const),
      ...(['EXECUTION_FAILED', 'EXECUTION_TIMEOUT', 'FORBIDDEN', 'WORKFLOW_LIMIT'] as const),
    ],
  })
  const body = method === 'GET' || method === 'DELETE' ? {} : { requestBody: { content: jsonContent(t.Unknown()) } }
  return {
    ...detail,
    ...body,
    parameters: traceParameters,
    responses: {
      200: {
        description: "The request is a duplicate, or the run succeeded, or the sender's challenge is returned.",
        content: jsonContent(t.Union([WebhookDuplicate, RunResponse, WebhookChallenge])),
      },
      202: {
        description: 'The run is on disk and queued, or the limits of the workflow skip the start and nothing runs.',
        content: jsonContent(t.Union([WebhookAccepted, SkippedResponse])),
      },
      default: { description: "The status, headers and body of the workflow's response block." },
    },
  }
}
