import { Elysia } from 'elysia'
import type { LimitedAccount } from '../../accounts/limits.ts'
import { type Door, sendAsIs } from '../access/door.ts'
import { assertAllowed, showsWindow, showWindow } from '../access/rate-headers.ts'
import { parseJsonBody, readBody, readChunks } from '../requests/body.ts'
import type { BodyLimits } from '../requests/body-limits.ts'
import { RequestDigest } from '../requests/idempotency-key.ts'
import type { ExecuteServices } from '../run-services.ts'
import { type Admitted, admit, type Call } from './execution/admission.ts'
import { idempotentExecution } from './execution/idempotent-execution.ts'
import { idFor, startRun } from './execution/start.ts'
import { type ExecuteVersion, versionOne, type Wanted } from './execution/version.ts'

/**
 * `POST /api/workflows/<id>/execute`, in one version of the API. The order of the checks must not change: a caller
 * without a key for a workflow learns nothing about the workflow.
 */
export function executeRoutes(services: ExecuteServices, door: Door, version: ExecuteVersion = versionOne) {
  return new Elysia().post(
    version.path,
    async ({ request, params, server, set }) => {
      const headers = set.headers as Record<string, string>
      const workflowId = (params as { id: string }).id
      const call: Call = {
        ...{ version, services, door, request, workflowId, server, set, headers },
        ...{ mode: version.modeOf(request, undefined), limitedId: undefined },
      }
      door.note(request, { workflowId })
      try {
        return sendAsIs(set, await respondToExecute(call))
      } catch (error) {
        await showWindowOf(call)
        throw error
      }
    },
    { parse: 'none', detail: version.detail },
  )
}

/** Responds to a call of a workflow. */
export async function respondToExecute(call: Call): Promise<Response> {
  try {
    return await respond(call)
  } finally {
    call.services.settings.body.budget.release(call.request)
  }
}

/** Awaits nothing that is in memory: on this path, promises cost more than most checks. */
async function respond(call: Call): Promise<Response> {
  const { services, request } = call
  const found = admit(call)
  const admitted = found instanceof Promise ? await found : found
  if (admitted.trigger.fileFields.length > 0) return await respondToFiles(call, admitted)
  const limits = services.settings.body
  const text = await readBody(request, limits)
  const digest = digestOf(call, admitted)
  digest?.add(text)
  const parsed = jsonOf(request, text, limits)
  const body = parsed instanceof Promise ? await parsed : parsed
  const account = ownerOf(call, admitted)
  const owner = account instanceof Promise ? await account : account
  countRequest(call, body, owner)
  const keyed = idempotentExecution(call, { key: admitted.key, kind: call.mode }, digest, body)
  const replayed = keyed && (await keyed.replay(call.headers))
  if (replayed) return replayed
  const wanted = readCall(call, admitted, owner, body)
  assertAccepting(call, admitted)
  const id = idFor(call, wanted)
  const executionId = typeof id === 'string' ? id : await id
  const started = () => startRun(call, admitted, { executionId, input: wanted.input, wanted }, keyed)
  return keyed ? await keyed.start(executionId, admitted.plan, call, started) : await started()
}

const digestOf = ({ mode }: Call, { key }: Admitted) => (key === undefined ? undefined : new RequestDigest(mode))

function ownerOf({ services }: Call, { deployment }: Admitted): LimitedAccount | Promise<LimitedAccount> {
  return services.limits.account(deployment.ownerId)
}

/** `text`: a body, without the content of its files. */
function jsonOf(request: Request, text: string, limits: BodyLimits): unknown {
  return text === '' ? {} : parseJsonBody(request, text, limits)
}

/** Counts a request in the window of its mode. A repeat counts, too. */
function countRequest(call: Call, body: unknown, owner: LimitedAccount): void {
  const { version, services, headers, request } = call
  call.mode = version.modeOf(request, body)
  const window = services.limits.take(call.mode, owner)
  showWindow(headers, window)
  assertAllowed(window, services.clock.now())
}

/** Reads a body's content. */
function readCall(
  { version, services, request, mode }: Call,
  { plan, trigger }: Admitted,
  owner: LimitedAccount,
  body: unknown,
): Wanted {
  services.limits.assertWithinUsage(owner)
  return version.read({ request, body, trigger, plan, mode })
}

function assertAccepting({ services, mode }: Call, { deployment }: Admitted): void {
  if (mode === 'async') services.assertAcceptingJobs()
  else services.assertAccepting(deployment.workspaceId)
}

async function respondToFiles(call: Call, admitted: Admitted): Promise<Response> {
  const { services, request, workflowId } = call
  const { deployment, trigger } = admitted
  const { bodyWithFiles } = services.settings
  const { bytes, files, budget } = bodyWithFiles
  // A caller with a key may use the whole limit for text, not only for files.
  const digest = digestOf(call, admitted)
  const read = readChunks(request, bodyWithFiles)
  const chunks = digest ? digest.reading(read) : read
  const upload = await services.receiveFiles(chunks, trigger.fileFields, { text: bytes, files })
  try {
    budget.add(request, upload.text.length)
    const body = await jsonOf(request, upload.text, bodyWithFiles)
    const owner = await ownerOf(call, admitted)
    countRequest(call, body, owner)
    const keyed = idempotentExecution(call, { key: admitted.key, kind: call.mode }, digest, body)
    const replayed = keyed && (await keyed.replay(call.headers))
    if (replayed) return replayed
    const wanted = readCall(call, admitted, owner, body)
    upload.check(wanted.input)
    assertAccepting(call, admitted)
    const executionId = await idFor(call, wanted)
    const started = async () => {
      const owning = { workspaceId: deployment.workspaceId, workflowId, executionId }
      return await startRun(
        call,
        admitted,
        { executionId, input: await upload.store(wanted.input, owning), wanted },
        keyed,
      )
    }
    return keyed ? await keyed.start(executionId, admitted.plan, call, started) : await started()
  } catch (error) {
    await upload.takeBack(error)
    throw error
  } finally {
    await upload.discard()
  }
}

/** Shows the window on requests that were refused after the key check. They are not counted in it. */
async function showWindowOf({ services, headers, mode, limitedId }: Call): Promise<void> {
  if (limitedId === undefined || showsWindow(headers)) return
  try {
    showWindow(headers, services.limits.peek(mode, await services.limits.account(limitedId)))
  } catch {
    // The storage is unavailable: there is no window to show, and the error says so.
  }
}
