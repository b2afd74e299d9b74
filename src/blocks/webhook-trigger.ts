import { Type as t } from '@sinclair/typebox'
import {
  type WebhookAuthentication,
  type WebhookIdempotency,
  WebhookParameters,
} from '../domain/webhook/webhook-trigger.ts'
import { defineBlock, type ParameterFinding } from '../engine/block.ts'
import { checkLabels, Labels, labelWith } from './labels.ts'
import { checkAuthentication, isHeaderName } from './webhook-authentication.ts'

export const webhookTrigger = defineBlock({
  type: 'webhook_trigger',
  label: 'Webhook trigger',
  description: 'Starts the workflow when another service sends a request to its address.',
  kind: 'trigger',
  starts: 'webhook',
  isRepeatable: true,
  parameters: t.Object({ ...WebhookParameters.properties, labels: Labels }),
  modes: {
    ...Object.fromEntries(Object.keys(WebhookParameters.properties).map((name) => [name, 'literal' as const])),
    labels: 'own',
  },
  outputs: ['body', 'headers', 'query', 'method'],
  mayFail: false,
  givenAtSave: ['path'],
  registers: ({ path }) => (path ? { address: { kind: 'webhook', name: path } } : {}),
  respondsAtOnce: ({ respond }) => respond !== 'workflow',
  check: ({ authentication, idempotency }, _facts, { labels }) => [
    ...checkLabels(labels),
    ...checkAuthentication((authentication ?? { type: 'none' }) as WebhookAuthentication),
    ...(idempotency ? checkIdempotency(idempotency as WebhookIdempotency) : []),
  ],
  // The parameters include the senders' secrets, which must not appear in logs.
  showInput: () => ({}),
  run({ labels }, context) {
    const outputs = { ...context.input.fields }
    labelWith(labels, outputs, context)
    return { outputs }
  },
})

function checkIdempotency({ header, field }: WebhookIdempotency): ParameterFinding[] {
  if (!header === !field) {
    const message = 'Idempotency needs either Header or Field (a path in the body), and not both.'
    return [error('INVALID_PARAMETER', 'idempotency', message)]
  }
  if (!header || isHeaderName(header)) return []
  return [error('INVALID_HEADER', 'idempotency.header', `"${header}" cannot be the name of a header.`)]
}

function error(code: string, path: string, message: string): ParameterFinding {
  return { level: 'error', code, path, message }
}
