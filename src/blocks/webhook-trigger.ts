import { Type as t } from '@sinclair/typebox'
import {
  authenticationLabels,
  authenticationMembers,
  WebhookAuthentication,
  type WebhookIdempotency,
  WebhookParameters,
} from '../domain/webhook/webhook-trigger.ts'
import { defineBlock, type ParameterFinding } from '../engine/block.ts'
import { checkLabels, Labels, labelWith } from './labels.ts'

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

function checkAuthentication(authentication: WebhookAuthentication): ParameterFinding[] {
  const { type, name } = authentication
  const missing = authenticationMembers[type].filter((member) => !authentication[member])
  const findings = missing.map((member) => {
    const { title } = WebhookAuthentication.properties[member]
    const message = `${title} is empty, but the authentication “${authenticationLabels[type]}” needs it.`
    return error('MISSING_PARAMETER', `authentication.${member}`, message)
  })
  findings.push(...checkSecret(authentication))
  if (type !== 'header' || !name || isHeaderName(name)) return findings
  return [...findings, error('INVALID_HEADER', 'authentication.name', `"${name}" cannot be the name of a header.`)]
}

/** Finds secrets that no request can contain, so that every sender would be refused. Variables are not checked here. */
function checkSecret({ type, token = '', value = '', scheme, secret = '' }: WebhookAuthentication): ParameterFinding[] {
  if (type === 'bearer' && /\s/.test(token)) {
    return [error('INVALID_PARAMETER', 'authentication.token', 'A bearer token cannot contain spaces or line breaks.')]
  }
  if (type === 'header' && (value !== value.trim() || hasControls(value))) {
    const message = 'The value of a header cannot contain line breaks, or start or end with a space.'
    return [error('INVALID_PARAMETER', 'authentication.value', message)]
  }
  const isLiteral = secret !== '' && !secret.includes('{{')
  if (type !== 'signature' || scheme !== 'standard' || !isLiteral || /^(whsec_)?[A-Za-z0-9+/_-]+=*$/.test(secret))
    return []
  const message = 'A secret of Standard Webhooks consists of "whsec_" and a key in base64.'
  return [error('INVALID_PARAMETER', 'authentication.secret', message)]
}

function hasControls(text: string): boolean {
  return /\p{Cc}/u.test(text)
}

function checkIdempotency({ header, field }: WebhookIdempotency): ParameterFinding[] {
  if (!header === !field) {
    const message = 'Idempotency needs either Header or Field (a path in the body), and not both.'
    return [error('INVALID_PARAMETER', 'idempotency', message)]
  }
  if (!header || isHeaderName(header)) return []
  return [error('INVALID_HEADER', 'idempotency.header', `"${header}" cannot be the name of a header.`)]
}

function isHeaderName(name: string): boolean {
  return /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name)
}

function error(code: string, path: string, message: string): ParameterFinding {
  return { level: 'error', code, path, message }
}
