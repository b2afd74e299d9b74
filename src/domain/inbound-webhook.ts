import { type Static, Type as t } from '@sinclair/typebox'
import { oneOf } from './one-of.ts'

/** What a webhook trigger takes, as its block writes it down. Secrets may name environment variables: `{{NAME}}`. */

export const webhookMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export type WebhookMethod = (typeof webhookMethods)[number]

/** Whose way of signing a request: each sender has its own headers, text to sign and form of the signature. */
export const signatureSchemes = ['github', 'stripe', 'slack', 'standard'] as const
export type SignatureScheme = (typeof signatureSchemes)[number]

/** Which of the other members a type needs is `authenticationMembers`. */
export const WebhookAuthentication = t.Object({
  type: oneOf(['none', 'bearer', 'header', 'signature']),
  token: t.Optional(t.String({ title: 'Token', description: 'Best an environment variable: {{WEBHOOK_TOKEN}}.' })),
  name: t.Optional(t.String({ title: 'Name of the header' })),
  value: t.Optional(
    t.String({ title: 'Value of the header', description: 'Best an environment variable: {{WEBHOOK_TOKEN}}.' }),
  ),
  scheme: t.Optional(oneOf(signatureSchemes, { title: 'Signed as by' })),
  secret: t.Optional(t.String({ title: 'Secret', description: 'Best an environment variable: {{WEBHOOK_SECRET}}.' })),
})
export type WebhookAuthentication = Static<typeof WebhookAuthentication>

export const authenticationMembers: Readonly<
  Record<WebhookAuthentication['type'], readonly (keyof WebhookAuthentication)[]>
> = { none: [], bearer: ['token'], header: ['name', 'value'], signature: ['scheme', 'secret'] }

/** Where a request carries what names it: one of the two. `field` is a path in the body, as in `data.id`. */
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
      description: 'The end of the address. Unique in the installation; a random one is given when this is empty.',
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
    description: 'How a sender proves who it is: not at all, by a bearer token, a header, or a signature.',
    default: { type: 'none' },
    membersByType: authenticationMembers,
  }),
  respond: t.Union([t.Literal('immediately'), t.Literal('workflow')], {
    title: 'Respond',
    description: 'At once, when the run is on disk, or with what the workflow answers.',
    default: 'immediately',
  }),
  idempotency: t.Optional(
    t.Composite([WebhookIdempotency], {
      title: 'Idempotency',
      description: 'The header or the field that names a request: a second one within 24 hours starts nothing.',
    }),
  ),
})
export type WebhookParameters = Static<typeof WebhookParameters>
