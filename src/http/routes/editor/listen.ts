import { type Static, Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { AppError } from '../../../domain/errors.ts'
import { oneOf } from '../../../domain/one-of.ts'
import { recordOf } from '../../../domain/record-of.ts'
import { type Listener, listeningTriggers } from '../../../triggers/test-listeners.ts'
import { findWorkflow } from '../../access/auth.ts'
import { allowSilence } from '../../access/connection.ts'
import type { Door, ResponseSet } from '../../access/door.ts'
import { editorRoute } from '../../openapi/route.ts'
import type { PeerCall } from '../../peers/peers.ts'
import { readOptionalShape } from '../../requests/body.ts'
import type { TakenRequest } from '../../requests/taken-request.ts'
import { respondWith, respondWithBody, shownJson, writeObject } from '../../responses/json-text.ts'
import { isoTime, maybe, Time } from '../../responses/schema-parts.ts'
import type { Services } from '../../services.ts'

const Trigger = oneOf(listeningTriggers, { description: 'The trigger whose test address it is.' })
const NewListener = t.Object({ trigger: t.Optional(Trigger) })
const ListenerResponse = t.Object({
  token: t.String(),
  trigger: Trigger,
  url: t.String({
    description: 'The test address. It takes one request or message with the rules of this trigger of the draft.',
  }),
  expiresAt: Time,
  request: maybe(
    t.Object({
      receivedAt: Time,
      fields: recordOf(t.Unknown(), {
        description: 'The outputs that the trigger has with this request, without the secrets of the workspace.',
      }),
    }),
  ),
})
type ListenerResponse = Static<typeof ListenerResponse>
const pollMs = 20_000
const paths = { webhook: '/api/webhooks/test/', chat: '/api/chat/test/' } as const

/** Listening for a test request at the webhook or chat trigger of a draft. */
export function listenRoutes(services: Services, door: Door) {
  const { listeners, manual, settings, peers, runs, unsent } = services
  return new Elysia()
    .post(
      '/workflows/:id/listen',
      async ({ request, set, params: { id } }) => {
        const caller = await door.requireSession(request, set)
        door.note(request, { workflowId: id })
        const { workspaceId } = await findWorkflow(services, caller, id, 'execute')
        const { trigger = 'webhook' } = await readOptionalShape(request, NewListener, settings.body)
        set.status = 201
        const listener = listeners.open({ workflowId: id, workspaceId, userId: caller.userId, trigger })
        return await responseOf(set, listener, workspaceId)
      },
      editorRoute({
        name: 'listenForRequest',
        summary: 'Listen for a test request at the webhook or chat trigger of the draft',
        description: 'The address takes one request and then refuses others. It replaces your earlier one here.',
        body: NewListener,
        responses: { 201: ListenerResponse },
        errors: ['NOT_FOUND', 'OVERLOADED'],
      }),
    )
    .get(
      '/workflows/:id/listen/:token',
      async ({ request, set, params: { id, token }, server }) => {
        const caller = await door.requireSession(request, set)
        const { workspaceId } = await findWorkflow(services, caller, id, 'execute')
        const elsewhere = await forward({ request, server, set }, token)
        if (elsewhere) return elsewhere as never
        assertOwn(listeners.find(token), id, caller.userId)
        allowSilence(request, server)
        const listener = assertOwn(await listeners.wait(token, pollMs, request.signal), id, caller.userId)
        return await responseOf(set, listener, workspaceId)
      },
      editorRoute({
        name: 'waitForRequest',
        summary: 'Wait for a test request',
        description: `Responds when the request has come, or after ${pollMs / 1_000} seconds without one.`,
        responses: { 200: ListenerResponse },
        errors: ['NOT_FOUND'],
      }),
    )
    .delete(
      '/workflows/:id/listen/:token',
      async ({ request, set, params: { id, token }, server }) => {
        const caller = await door.requireSession(request, set)
        await findWorkflow(services, caller, id, 'execute')
        const elsewhere = await forward({ request, server, set }, token)
        if (elsewhere) return elsewhere as never
        assertOwn(listeners.find(token), id, caller.userId)
        listeners.close(token)
        set.status = 204
      },
      editorRoute({
        name: 'stopListening',
        summary: 'Stop listening for a test request',
        responses: { 204: t.Void({ description: 'The address no longer exists.' }) },
        errors: ['NOT_FOUND'],
      }),
    )

  /** Each test address is in the memory of one process. */
  async function forward(call: PeerCall, token: string): Promise<Response | undefined> {
    return listeners.find(token) ? undefined : await peers.forward(call, { kind: 'listener', id: token })
  }

  async function responseOf(
    set: ResponseSet,
    { token, trigger, expiresAt, request }: Listener<TakenRequest>,
    workspaceId: string,
  ) {
    const url = `${settings.baseUrl()}${paths[trigger]}${token}`
    const listening = { token, trigger, url, expiresAt: isoTime(expiresAt) }
    if (!request) return respondWith<ListenerResponse>(set, writeObject({ ...listening, request: null }))
    const secrets = await manual.secretsOf(workspaceId)
    const fields = await shownJson(request.shown, secrets, runs.webhooks.inSlices)
    const taken = writeObject({ receivedAt: isoTime(request.at), fields })
    const { text } = writeObject({ ...listening, request: taken })
    return respondWithBody<ListenerResponse>(set, unsent.logBody(workspaceId, text))
  }
}

/** The address is a secret of the person who listens. */
function assertOwn(listener: Listener<TakenRequest> | undefined, workflowId: string, userId: string) {
  if (listener?.workflowId === workflowId && listener.userId === userId) return listener
  throw new AppError('NOT_FOUND', 'You no longer listen at this test address. Listen again.')
}
