import { Type as t } from '@sinclair/typebox'
import { Subscription } from '../domain/webhook.ts'

/** What the routes of webhooks take and answer; webhooks of a document are the same. */

const { secret: _, ...shown } = Subscription.properties
export const Webhook = t.Object(shown, { $id: 'Webhook' })

/** A webhook as it is sent. */
export const SentWebhook = t.Object(
  {
    ...shown,
    secret: t.Optional(
      t.Union([
        t.String({ description: 'Left out: the stored one of this `id` stays; null: deliveries are not signed.' }),
        t.Null(),
      ]),
    ),
  },
  { $id: 'SentWebhook' },
)
