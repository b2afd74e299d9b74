import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { AppError } from '../../domain/errors.ts'
import { deliveryIdOf, deliveryKeyOf, sequenceAt } from '../../domain/ids.ts'
import { oneOf } from '../../domain/one-of.ts'
import { isObject } from '../../domain/run/input.ts'
import { readTime } from '../../domain/text/iso-time.ts'
import { deliveryStates } from '../../domain/webhook/delivery.ts'
import type { DeliveryRow } from '../../store/delivery-store.ts'
import { assertMayOfRuns } from '../access/auth.ts'
import type { Door } from '../access/door.ts'
import { route } from '../openapi/route.ts'
import { readJsonBody } from '../requests/body.ts'
import { type CursorScope, readCursor, writeCursor } from '../requests/cursor.ts'
import { Parameters } from '../requests/parameters.ts'
import { attemptResponse, deliveryResponse } from '../responses/delivery-response.ts'
import { DeliveryDetail, DeliveryList, Resent } from '../responses/webhook-responses.ts'
import type { Services } from '../services.ts'

const pageMax = 1_000
const pageDefault = 100

/** Webhook deliveries of a workflow, deleted or not: `/api/workflows/<id>/deliveries`. */
export function deliveryRoutes(services: Services, door: Door) {
  const { store, deliveries, settings } = services
  return new Elysia({ prefix: '/api/workflows/:id/deliveries' })
    .get(
      '',
      async ({ request, set, params: { id } }) => {
        const caller = await door.requireKeyOrSession(request, set)
        await assertMayOfRuns(services, caller, id, 'read')
        const { state, webhookId, limit, cursor } = readQuery(request.url)
        const scope: CursorScope = { of: id, order: 'desc', filters: JSON.stringify([state, webhookId]) }
        const after = positionOf(cursor, scope)
        const page = await store.listDeliveries({ workflowId: id, state, webhookId, limit, after })
        const { position } = page
        const nextCursor = position && writeCursor([position.sequence, position.subscription], scope)
        return { data: page.deliveries.map(deliveryResponse), nextCursor }
      },
      route({
        name: 'listDeliveries',
        summary: 'List deliveries',
        description:
          'The webhook deliveries of the workflow, those of the newest runs first. A page may be short or empty and still ' +
          'have a cursor. Deliveries are kept as long as the log entries of their runs, even after the workflow is ' +
          'deleted: they can still be listed, sent again and cancelled by its id.',
        tag: 'Webhooks',
        query: DeliveryQueryParameters,
        responses: { 200: DeliveryList },
        errors: ['INVALID_PARAMETERS', 'INVALID_CURSOR', 'NOT_FOUND'],
      }),
    )
    .get(
      '/:deliveryId',
      async ({ request, set, params: { id, deliveryId } }) => {
        const caller = await door.requireKeyOrSession(request, set)
        await assertMayOfRuns(services, caller, id, 'read')
        return detailOf(await findDelivery(id, deliveryId))
      },
      route({
        name: 'getDelivery',
        summary: 'Get a delivery, with its attempts',
        tag: 'Webhooks',
        responses: { 200: DeliveryDetail },
        errors: ['NOT_FOUND'],
      }),
    )
    .post(
      '/:deliveryId/resend',
      async ({ request, set, params: { id, deliveryId } }) => {
        const caller = await door.requireKeyOrSession(request, set)
        door.note(request, { workflowId: id })
        await assertMayOfRuns(services, caller, id, 'write')
        await deliveries.resend(await findDelivery(id, deliveryId))
        return detailOf(await findDelivery(id, deliveryId))
      },
      route({
        name: 'resendDelivery',
        summary: 'Send a delivery again',
        description:
          'Sends it now with the same ids and body, whatever its state. A pending delivery keeps its remaining attempts; ' +
          'an ended one gets the full number again. Refused while an attempt is in progress.',
        tag: 'Webhooks',
        responses: { 200: DeliveryDetail },
        errors: ['FORBIDDEN', 'NOT_FOUND', 'CONFLICT'],
      }),
    )
    .post(
      '/:deliveryId/cancel',
      async ({ request, set, params: { id, deliveryId } }) => {
        const caller = await door.requireKeyOrSession(request, set)
        door.note(request, { workflowId: id })
        await assertMayOfRuns(services, caller, id, 'write')
        const found = await findDelivery(id, deliveryId)
        if (!(await deliveries.cancel(found))) throw notPending(await findDelivery(id, deliveryId))
        return detailOf(await findDelivery(id, deliveryId))
      },
      route({
        name: 'cancelDelivery',
        summary: 'Cancel a delivery',
        description: 'No further attempts are made. An attempt in progress may still reach the receiver.',
        tag: 'Webhooks',
        responses: { 200: DeliveryDetail },
        errors: ['FORBIDDEN', 'NOT_FOUND', 'CONFLICT'],
      }),
    )
    .post(
      '/resend-failed',
      async ({ request, set, params: { id } }) => {
        const caller = await door.requireKeyOrSession(request, set)
        door.note(request, { workflowId: id })
        await assertMayOfRuns(services, caller, id, 'write')
        const since = readSince(await readJsonBody(request, settings.body))
        return { resent: await deliveries.resendFailed(id, Math.max(0, sequenceAt(since))) }
      },
      route({
        name: 'resendFailedDeliveries',
        summary: 'Send failed deliveries again',
        description:
          'Sends all failed deliveries of runs that ended at or after the given time, to every webhook of the workflow.',
        tag: 'Webhooks',
        body: FailedSince,
        responses: { 200: Resent },
        errors: ['INVALID_JSON', 'INVALID_INPUT', 'FORBIDDEN', 'NOT_FOUND'],
      }),
    )

  async function findDelivery(workflowId: string, deliveryId: string): Promise<DeliveryRow> {
    const key = deliveryKeyOf(deliveryId)
    const row = key && (await store.getDelivery(key))
    // The whole id must match, not only the part that locates the row.
    if (row?.workflowId === workflowId && deliveryIdOf(row, row.executionId) === deliveryId) return row
    throw new AppError('NOT_FOUND', 'This workflow has no such delivery. GET …/deliveries lists its deliveries.')
  }

  async function detailOf(row: DeliveryRow) {
    return { ...deliveryResponse(row), attempts: (await store.listAttempts(row)).map(attemptResponse) }
  }
}

const DeliveryQueryParameters = t.Object({
  state: t.Optional(oneOf(deliveryStates, { description: 'Only deliveries in this state.' })),
  webhookId: t.Optional(
    t.String({ description: 'Only deliveries to this webhook subscription, which may be deleted.' }),
  ),
  limit: t.Optional(
    t.Integer({
      minimum: 1,
      maximum: pageMax,
      default: pageDefault,
      description: 'Maximum number of deliveries per page.',
    }),
  ),
  cursor: t.Optional(t.String({ description: '`nextCursor` of the previous page, with the same filters.' })),
})

const FailedSince = t.Object({ since: t.String({ description: 'RFC 3339 time or date; without a zone, UTC.' }) })

function readQuery(url: string) {
  const parameters = new Parameters(url)
  const query = {
    state: parameters.oneOf('state', deliveryStates),
    webhookId: parameters.text('webhookId'),
    limit: parameters.whole('limit', 1, pageMax) ?? pageDefault,
    cursor: parameters.text('cursor'),
  }
  parameters.assertValid()
  return query
}

function positionOf(cursor: string | undefined, scope: CursorScope) {
  if (cursor === undefined) return undefined
  const [sequence, subscription] = readCursor(cursor, scope) ?? []
  if (sequence !== undefined && subscription !== undefined) return { sequence, subscription }
  throw new AppError(
    'INVALID_CURSOR',
    'This cursor does not belong to this query. Keep the workflow and the filters as they were, or start without a cursor.',
  )
}

function readSince(body: unknown): number {
  const since = isObject(body) ? body['since'] : undefined
  const at = typeof since === 'string' ? readTime(since) : undefined
  if (at !== undefined) return at
  const message = 'since must be a time such as 2025-01-31T08:00:00Z, or a date.'
  throw new AppError('INVALID_INPUT', message, { details: [{ path: 'since', message }] })
}

function notPending({ state }: DeliveryRow): AppError {
  return new AppError('CONFLICT', `The delivery is ${state}: only one that is pending can be cancelled.`)
}
