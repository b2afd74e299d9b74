import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { problemsError } from '../../../domain/errors.ts'
import { isObject } from '../../../domain/run/input.ts'
import {
  keepSecretMsMax,
  Subscription,
  type SubscriptionPatch,
  type SubscriptionRow,
  shownOf,
} from '../../../domain/webhook/subscription.ts'
import { findValidationErrors } from '../../../domain/workflow/shape.ts'
import { findWorkflow } from '../../access/auth.ts'
import type { Door } from '../../access/door.ts'
import { editorRoute } from '../../openapi/route.ts'
import { readJsonBody, readShape } from '../../requests/body.ts'
import { attemptResponse } from '../../responses/delivery-response.ts'
import { isoTime, listOf } from '../../responses/schema-parts.ts'
import { EditorWebhook, SentWebhook, TestDeliveryResponse } from '../../responses/webhook-responses.ts'
import type { Services } from '../../services.ts'

const { id: _, ...changeable } = Subscription.properties
const Change = t.Partial(t.Object(changeable), { additionalProperties: false })

const NewSecret = t.Object(
  {
    secret: t.String({ minLength: 1, maxLength: 1_000, expected: 'a text of 1 to 1000 characters' }),
    keepPreviousForS: t.Optional(
      t.Integer({
        minimum: 0,
        maximum: keepSecretMsMax / 1000,
        default: 0,
        description: 'Seconds during which deliveries are also signed with the previous secret.',
      }),
    ),
  },
  { additionalProperties: false },
)

const inBody = ['INVALID_JSON', 'INVALID_INPUT', 'NOT_FOUND'] as const

/** Webhook subscriptions: `/api/editor/workflows/<id>/webhooks`. Secrets are never returned. */
export function webhookRoutes(services: Services, door: Door) {
  const { subscriptions, settings, clock } = services
  const webhookResponse = (row: SubscriptionRow) => responseOf(row, clock.now())
  return new Elysia({ prefix: '/workflows/:id/webhooks' })
    .get(
      '',
      async ({ request, set, params: { id } }) => {
        await findWorkflow(services, await door.requireSession(request, set), id, 'read')
        return { data: (await subscriptions.of(id)).map(webhookResponse) }
      },
      editorRoute({
        name: 'listWebhooks',
        summary: 'List webhooks',
        responses: { 200: listOf(EditorWebhook) },
        errors: ['NOT_FOUND'],
      }),
    )
    .post(
      '',
      async ({ request, set, params: { id } }) => {
        const workflow = await findWorkflow(services, await door.requireSession(request, set), id, 'write')
        const wanted = withoutNulls(await readJsonBody(request, settings.body))
        assertFits(Subscription, wanted)
        set.status = 201
        return webhookResponse(await subscriptions.create(workflow, wanted as Subscription))
      },
      editorRoute({
        name: 'createWebhook',
        summary: 'Add a webhook',
        body: SentWebhook,
        responses: { 201: EditorWebhook },
        errors: [...inBody, 'CONFLICT'],
      }),
    )
    .patch(
      '/:webhookId',
      async ({ request, set, params: { id, webhookId } }) => {
        const workflow = await findWorkflow(services, await door.requireSession(request, set), id, 'write')
        const change = await readJsonBody(request, settings.body)
        assertFits(Change, withoutNulls(change))
        assertKnown(change)
        return webhookResponse(await subscriptions.change(workflow, webhookId, change))
      },
      editorRoute({
        name: 'changeWebhook',
        summary: 'Change a webhook',
        description:
          'Absent members stay as they are. Null removes a filter or the secret, and resets any other member to its default.',
        body: Change,
        responses: { 200: EditorWebhook },
        errors: inBody,
      }),
    )
    .delete(
      '/:webhookId',
      async ({ request, set, params: { id, webhookId } }) => {
        await findWorkflow(services, await door.requireSession(request, set), id, 'write')
        await subscriptions.delete(id, webhookId)
        set.status = 204
      },
      editorRoute({
        name: 'deleteWebhook',
        summary: 'Delete a webhook',
        description: 'Its pending deliveries continue.',
        responses: { 204: t.Void() },
        errors: ['NOT_FOUND'],
      }),
    )
    .post(
      '/:webhookId/rotate-secret',
      async ({ request, set, params: { id, webhookId } }) => {
        const workflow = await findWorkflow(services, await door.requireSession(request, set), id, 'write')
        const { secret, keepPreviousForS = 0 } = await readShape(request, NewSecret, settings.body)
        return webhookResponse(await subscriptions.rotate(workflow, webhookId, secret, keepPreviousForS * 1000))
      },
      editorRoute({
        name: 'rotateWebhookSecret',
        summary: 'Give a webhook a new secret',
        description:
          'While the previous secret is kept, `svc-signature` has two `v1=` parts, first that of the previous secret, so ' +
          'that receivers can switch at any time.',
        body: NewSecret,
        responses: { 200: EditorWebhook },
        errors: inBody,
      }),
    )
    .post(
      '/:webhookId/test',
      async ({ request, set, params: { id, webhookId } }) => {
        await findWorkflow(services, await door.requireSession(request, set), id, 'write')
        const subscription = await subscriptions.find(id, webhookId)
        const { deliveryId, body, attempt } = await services.sendTestDelivery(subscription, request.signal)
        const { number: _, ...ended } = attemptResponse(attempt)
        return { delivered: attempt.failure === null, deliveryId, ...ended, body }
      },
      editorRoute({
        name: 'testWebhook',
        summary: 'Send a test delivery to a webhook subscription',
        description:
          'Makes one attempt with a sample run that its filters admit, even when the webhook is switched off. The ' +
          'execution id starts with `test_`. The test delivery is not stored and not retried.',
        responses: { 200: TestDeliveryResponse },
        errors: ['NOT_FOUND'],
      }),
    )
}

function responseOf(row: SubscriptionRow, now: number): EditorWebhook {
  const { secret, previousSecret, previousSecretUntil, createdAt, updatedAt } = row
  const isKept = previousSecret !== null && previousSecretUntil !== null && previousSecretUntil > now
  return {
    ...shownOf(row),
    secret: secret === null ? 'none' : secret.length === 0 ? 'lost' : 'set',
    previousSecretUntil: isKept ? isoTime(previousSecretUntil) : null,
    createdAt: isoTime(createdAt),
    updatedAt: isoTime(updatedAt),
  }
}

/** Drops members that are null, except the secret, where null means that there is none. */
function withoutNulls(body: unknown): unknown {
  if (!isObject(body)) return body
  return Object.fromEntries(Object.entries(body).filter(([name, value]) => value !== null || name === 'secret'))
}

function assertFits(schema: typeof Subscription | typeof Change, body: unknown): void {
  const details = findValidationErrors(schema, body)
  if (details.length === 0) return
  throw problemsError('INVALID_INPUT', details)
}

/** The members that are null. */
function assertKnown(change: unknown): asserts change is SubscriptionPatch {
  const names = isObject(change) ? Object.keys(change) : []
  const unknown = names.filter((name) => !Object.hasOwn(changeable, name))
  const details = unknown.map((name) => ({ path: name, message: `${name} is not known here.` }))
  if (isObject(change) && change['url'] === null) details.push({ path: 'url', message: 'url must be text, not null.' })
  if (details.length === 0) return
  throw problemsError('INVALID_INPUT', details)
}
