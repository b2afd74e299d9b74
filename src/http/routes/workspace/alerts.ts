import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { AlertPatch, NewAlertBody } from '../../../domain/alert/alert-body.ts'
import { assertMay } from '../../access/auth.ts'
import type { Door } from '../../access/door.ts'
import { assertAllowed } from '../../access/rate-headers.ts'
import { route } from '../../openapi/route.ts'
import { readShape } from '../../requests/body.ts'
import type { Services } from '../../services.ts'
import { AlertList, AlertResponse, AlertTestResult, alertResponse } from './alert-schemas.ts'

/**
 * Alerts of a workspace: `/api/workspaces/<id>/alerts`. Only members who may edit see them, because the address of
 * a chat's webhook is enough to write there.
 */
export function alertRoutes({ alerts, clock, limits, settings, sendTestAlert }: Services, door: Door) {
  return new Elysia({ prefix: '/api/workspaces/:id/alerts' })
    .get(
      '',
      async ({ request, set, params: { id } }) => {
        assertMay(await door.requireKeyOrSession(request, set), id, 'write', 'workspace')
        const now = clock.now()
        return { data: (await alerts.list(id)).map((alert) => alertResponse(alert, now)) }
      },
      route({
        name: 'listAlerts',
        summary: 'List alerts',
        description: 'The alerts of a workspace, oldest first, without their secrets.',
        tag: 'Alerts',
        responses: { 200: AlertList },
        errors: ['FORBIDDEN', 'NOT_FOUND'],
      }),
    )
    .post(
      '',
      async ({ request, set, params: { id } }) => {
        const caller = await door.requireKeyOrSession(request, set)
        assertMay(caller, id, 'write', 'workspace')
        const body = await readShape(request, NewAlertBody, settings.body)
        set.status = 201
        return alertResponse(await alerts.create(id, body, caller.userId), clock.now())
      },
      route({
        name: 'createAlert',
        summary: 'Create an alert',
        description:
          'Sends a message when one of `events` happens in one of `workflows`, or when `rule` holds there. Then it stays ' +
          'quiet for `quietMs`.',
        tag: 'Alerts',
        body: NewAlertBody,
        responses: { 201: AlertResponse },
        errors: ['INVALID_JSON', 'INVALID_INPUT', 'FORBIDDEN', 'NOT_FOUND'],
      }),
    )
    .get(
      '/:alertId',
      async ({ request, set, params: { id, alertId } }) => {
        assertMay(await door.requireKeyOrSession(request, set), id, 'write', 'workspace')
        return alertResponse(await alerts.get(id, alertId), clock.now())
      },
      route({
        name: 'getAlert',
        summary: 'Get an alert',
        description: 'An alert without its secret.',
        tag: 'Alerts',
        responses: { 200: AlertResponse },
        errors: ['FORBIDDEN', 'NOT_FOUND'],
      }),
    )
    .patch(
      '/:alertId',
      async ({ request, set, params: { id, alertId } }) => {
        assertMay(await door.requireKeyOrSession(request, set), id, 'write', 'workspace')
        const patch = await readShape(request, AlertPatch, settings.body)
        return alertResponse(await alerts.change(id, alertId, patch), clock.now())
      },
      route({
        name: 'changeAlert',
        summary: 'Change an alert',
        description:
          'Absent members stay. A change of `events`, `workflows` or `rule`, or switching the alert on, makes it begin anew.',
        tag: 'Alerts',
        body: AlertPatch,
        responses: { 200: AlertResponse },
        errors: ['INVALID_JSON', 'INVALID_INPUT', 'FORBIDDEN', 'NOT_FOUND'],
      }),
    )
    .delete(
      '/:alertId',
      async ({ request, set, params: { id, alertId } }) => {
        assertMay(await door.requireKeyOrSession(request, set), id, 'write', 'workspace')
        await alerts.delete(id, alertId)
        set.status = 204
      },
      route({
        name: 'deleteAlert',
        summary: 'Delete an alert',
        description: 'Its pending deliveries continue.',
        tag: 'Alerts',
        responses: { 204: t.Void({ description: 'Deleted.' }) },
        errors: ['FORBIDDEN', 'NOT_FOUND'],
      }),
    )
    .post(
      '/:alertId/test',
      async ({ request, set, params: { id, alertId } }) => {
        assertMay(await door.requireKeyOrSession(request, set), id, 'write', 'workspace')
        const alert = await alerts.get(id, alertId)
        if (alert.channel.type === 'email')
          assertAllowed(limits.takeAlertMailTest(id), clock.now(), 'tests of alerts by e-mail', 'an hour')
        const { body, attempt } = await sendTestAlert(alert, request.signal)
        const { status, failure, answer } = attempt
        return { delivered: failure === null, status, error: failure, answer, body }
      },
      route({
        name: 'testAlert',
        summary: 'Send a test message',
        description:
          'Makes one attempt with an example, also while the alert is switched off or quiet. It is not stored. A ' +
          'workspace may test alerts by e-mail 10 times an hour.',
        tag: 'Alerts',
        responses: { 200: AlertTestResult },
        errors: ['FORBIDDEN', 'NOT_FOUND', 'RATE_LIMIT_EXCEEDED'],
      }),
    )
}
