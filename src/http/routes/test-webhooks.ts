import { Elysia } from 'elysia'
import { AppError } from '../../domain/errors.ts'
import { hookOf } from '../../triggers/webhook-hook.ts'
import { allowSilence, type ServerPort } from '../access/connection.ts'
import { type Door, type ResponseSet, sendAsIs } from '../access/door.ts'
import { assertNotLoadedAsCode } from '../access/same-origin.ts'
import { withoutSession } from '../access/session-cookie.ts'
import { alreadyTaken, workflowAt } from '../access/test-address.ts'
import { WebhookReception } from '../access/webhook-reception.ts'
import { forwardTestRequest } from '../peers/test-requests.ts'
import { takenRequest } from '../requests/taken-request.ts'
import { findingsError } from '../responses/findings-error.ts'
import { runResponse, sandboxed } from '../responses/run-response.ts'
import type { Services } from '../services.ts'
import { createManualStart } from './editor/manual-start.ts'

const testPath = '/api/webhooks/test/:token'

type Context = { request: Request; params: { token: string }; server: ServerPort | null; set: ResponseSet }

/** `/api/webhooks/test/<token>`: one real request for the webhook trigger of a draft, while somebody listens. */
export function testWebhookRoutes(services: Services, door: Door) {
  const { clock, manual, listeners, peers } = services
  const { webhooks } = services.runs
  const reception = new WebhookReception(webhooks)
  const startManualRun = createManualStart(services)
  const handle = async ({ request, params: { token }, server, set }: Context): Promise<Response> => {
    door.allowAnonymous(request, set)
    assertNotLoadedAsCode(request)
    const call = { request, server, set }
    const elsewhere = await forwardTestRequest({ peers, listeners, limits: webhooks.limits, clock }, call, token)
    if (elsewhere) return elsewhere
    try {
      return sendAsIs(set, await receive({ request, token, server, headers: set.headers as Record<string, string> }))
    } finally {
      webhooks.settings.body.budget.release(request)
    }
  }
  const hidden = { parse: 'none' as const, detail: { hide: true } }
  return new Elysia()
    .post(testPath, handle, hidden)
    .get(testPath, handle, hidden)
    .put(testPath, handle, hidden)
    .patch(testPath, handle, hidden)
    .delete(testPath, handle, hidden)

  async function receive(call: {
    request: Request
    token: string
    server: ServerPort | null
    headers: Record<string, string>
  }): Promise<Response> {
    const { request, token, server, headers } = call
    const workflow = await workflowAt(services, 'webhook', token)
    if (!workflow) {
      reception.countRefused(call)
      throw new AppError('NOT_FOUND', 'Nobody listens at this test address any more. Listen again in the editor.')
    }
    const { id, workspaceId, document } = workflow
    door.note(request, { workflowId: id })
    const { plan, findings } = await manual.compile(document, workspaceId, { trigger: 'webhook', through: [] })
    const trigger = plan?.triggers.get('webhook')
    if (!trigger) throw findingsError(findings, 'run')
    const hook = hookOf(trigger.params)
    const received = await reception.receive(call, { workflowId: id, workspaceId }, hook)
    headers['content-type'] = 'application/json'
    if (received.challenge !== undefined) return Response.json({ challenge: received.challenge }, { headers })
    const { url, method } = request
    const head = { url, method, headers: withoutSession(request.headers) }
    const taken = await takenRequest(head, hook, { ...received, at: clock.now() }, webhooks.storeFile)
    if (!listeners.take(token, taken)) {
      throw alreadyTaken('webhook')
    }
    if (hook.respondsImmediately) return Response.json({ success: true, test: true }, { status: 202, headers })
    allowSilence(request, server)
    const { executionId, ending } = await startManualRun(workflow, { trigger: 'webhook' }, { taken })
    headers['x-execution-id'] = executionId
    door.note(request, { executionId })
    const end = await ending
    if (!end) throw new AppError('STORAGE_UNAVAILABLE', 'The run could not be recorded.')
    return sandboxed(await runResponse(end, headers, webhooks), `/api/webhooks/test/${token}`)
  }
}
