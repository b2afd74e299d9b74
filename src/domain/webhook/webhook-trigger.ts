import { type Static, Type as t } from '@sinclair/typebox'
import { oneOf } from '../one-of.ts'

/** The parameters of a webhook trigger. Secrets may refer to environment variables: `{{NAME}}`. */

export const webhookMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export type WebhookMethod = (typeof webhookMethods)[number]

/** The signature scheme of a sender: its headers, the signed text and the form of the signature. */
export const signatureSchemes = ['github', 'stripe', 'slack', 'standard'] as const
export type SignatureScheme = (typeof signatureSchemes)[number]

export const authenticationLabels = {
  none: 'None: anyone who knows the URL',
  bearer: 'Bearer token',
  header: 'Header',
  signature: 'Signature',
} as const

/** `authenticationMembers` says which other members each type needs. */
export const WebhookAuthentication = t.Object({
  type: oneOf(['none', 'bearer', 'header', 'signature'], { labels: authenticationLabels }),
  token: t.Optional(
    t.String({ secret: true, title: 'Token', description: 'We recommend an environment variable: {{WEBHOOK_TOKEN}}.' }),
  ),
  name: t.Optional(t.String({ title: 'Header name' })),
  value: t.Optional(
    t.String({
      secret: true,
      title: 'Header value',
      description: 'We recommend an environment variable: {{WEBHOOK_TOKEN}}.',
    }),
  ),
  scheme: t.Optional(
    oneOf(signatureSchemes, {
      title: 'Signature scheme',
      labels: { github: 'GitHub', stripe: 'Stripe', slack: 'Slack', standard: 'Standard Webhooks' },
    }),
  ),
  secret: t.Optional(
    t.String({
      secret: true,
      title: 'Secret',
      description: 'We recommend an environment variable: {{WEBHOOK_SECRET}}.',
    }),
  ),
})
export type WebhookAuthentication = Static<typeof WebhookAuthentication>

export const authenticationMembers: Readonly<
  Record<WebhookAuthentication['type'], readonly (keyof WebhookAuthentication)[]>
> = { none: [], bearer: ['token'], header: ['name', 'value'], signature: ['scheme', 'secret'] }

/** Where a request carries its idempotency key: either member. `field` is a path in the body, as in `data.id`. */
export const WebhookIdempotency = t.Object({
  header: t.Optional(t.String({ title: 'Header' })),
  field: t.Optional(t.String({ title: 'Field' })),
})
export type WebhookIdempotency = Static<typeof WebhookIdempotency>

export const WebhookParameters = t.Object({
  path: t.Optional(
    t.String({
      pattern: '^[A-Za-z0-9_-][A-Za-z0-9._~-]{0,199}$',
      expected: 'letters, digits, "-", "_", "." and "~", 200 at most and no "." or "~" in front',
      title: 'Path',
      description: 'The last part of the address. It is unique in the installation. Leave it empty for a random one.',
    }),
  ),
  methods: t.Array(oneOf(webhookMethods), {
    title: 'Methods',
    description: 'The HTTP methods that start a run.',
    default: ['POST'],
    minItems: 1,
  }),
  authentication: t.Composite([WebhookAuthentication], {
    title: 'Authentication',
    description: 'How the sender proves its identity: not at all, or with a bearer token, a header or a signature.',
    default: { type: 'none' },
    membersByType: authenticationMembers,
  }),
  respond: oneOf(['immediately', 'workflow'], {
    title: 'Respond',
    description: 'Respond immediately, when the run is on disk, or with the response of the workflow.',
    default: 'immediately',
    labels: { immediately: 'Immediately', workflow: 'With the response of the workflow' },
  }),
  idempotency: t.Optional(
    t.Composite([WebhookIdempotency], {
      title: 'Idempotency',
      description: 'The header or field that identifies a request. A duplicate within 24 hours starts nothing.',
    }),
  ),
})
export type WebhookParameters = Static<typeof WebhookParameters>
