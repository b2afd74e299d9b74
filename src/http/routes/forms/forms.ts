import { Elysia } from 'elysia'
import { problemsError } from '../../../domain/errors.ts'
import { newExecutionId } from '../../../domain/ids.ts'
import type { TriggerInput } from '../../../domain/run/input.ts'
import type { FormParameters } from '../../../domain/workflow/form.ts'
import { readForm } from '../../../domain/workflow/form-values.ts'
import type { Plan } from '../../../engine/compile/plan.ts'
import type { Deployment } from '../../../engine/deployments.ts'
import type { RunEnd } from '../../../engine/run/run-end.ts'
import { hideLimits, withoutDetails } from '../../access/anonymous-caller.ts'
import { addressOf, allowSilence, type ServerPort, visitorOf } from '../../access/connection.ts'
import { type Door, type ResponseSet, sendAsIs } from '../../access/door.ts'
import { type FormCall, FormReception, isAnonymous, noForm } from '../../access/form-reception.ts'
import { assertAllowed } from '../../access/rate-headers.ts'
import { toAppError } from '../../errors.ts'
import { formDetail, formFactsDetail } from '../../openapi/form-operation.ts'
import type { FormBody } from '../../requests/form-body.ts'
import { formFacts } from '../../responses/forms/form-facts.ts'
import { pausedResponse } from '../../responses/pauses/paused-response.ts'
import { runResponse, sandboxed } from '../../responses/run-response.ts'
import type { FormServices } from '../../run-services.ts'
import { openPage } from '../pauses/next-page.ts'

const formPath = '/api/forms/:path'
const sorry = 'The form could not be processed. Try again in a moment.'

/** `/api/forms/<path>`: the forms that start runs. */
export function formRoutes(services: FormServices, door: Door) {
  const reception = new FormReception(services, door)
  const forms = { services, reception, door }
  return new Elysia()
    .post(formPath, (context) => handle(forms, context, submit), { parse: 'none', detail: formDetail })
    .get(formPath, (context) => handle(forms, context, describe), { detail: formFactsDetail })
}

type Forms = { services: FormServices; reception: FormReception; door: Door }

type Context = { request: Request; params: { path: string }; server: ServerPort | null; set: ResponseSet }

/** A request with the form that it is for. `headers`: those of `set`, which the response carries. */
type Call = Forms & FormCall & { deployment: Deployment; plan: Plan; headers: Record<string, string>; path: string }

async function handle(
  forms: Forms,
  { request, params, server, set }: Context,
  respond: (call: Call) => Promise<Response>,
): Promise<Response> {
  const { services, door } = forms
  door.allowAnonymous(request, set)
  set.headers['cache-control'] = 'no-store'
  const found = await find(services, params.path, request, server)
  door.note(request, { workflowId: found.deployment.workflowId })
  const headers = set.headers as Record<string, string>
  const call = { ...forms, request, server, set, headers, workflow: found.deployment, path: params.path, ...found }
  return sendAsIs(set, await respond(call))
}

async function find({ at, limits, clock }: FormServices, name: string, request: Request, server: ServerPort | null) {
  const deployment = await at({ kind: 'form', name })
  const plan = deployment?.plan
  const trigger = plan?.triggers.get('form')
  if (deployment && plan && trigger) return { deployment, plan, form: trigger.params as FormParameters }
  // Wrong addresses count, so that nobody can guess addresses.
  assertAllowed(limits.takeRefused(addressOf(request, server)), clock.now())
  throw noForm()
}

/** Responds with the facts that the page shows. Only callers who may send the form get its fields. */
async function describe(call: Call): Promise<Response> {
  const { form, request, headers, reception } = call
  const isAsked = form.access !== 'password' || (request.headers.get('x-form-password') ?? '') !== ''
  let problem: string | null = null
  try {
    if (isAsked) await reception.assertWelcome(call)
  } catch (error) {
    problem = form.access === 'members' ? (problems.get(toAppError(error).code) ?? null) : null
    // A wrong password is an error. Without a session, the page shows the way to sign in.
    if (problem === null) throw error
  }
  headers['content-type'] = 'application/json'
  return new Response(JSON.stringify(formFacts(form, isAsked && problem === null, problem)), { headers })
}

const unknownCaller = 'Sign in to fill in this form.'
const wrongAccount = 'Your account may not send this form. Ask the people who built the workflow.'
const problems: ReadonlyMap<string, string> = new Map([
  ...['API_KEY_REQUIRED', 'INVALID_API_KEY', 'SIGN_IN_REQUIRED'].map((code) => [code, unknownCaller] as const),
  ...['FORBIDDEN', 'NOT_FOUND'].map((code) => [code, wrongAccount] as const),
])

async function submit(call: Call): Promise<Response> {
  const { services, reception, deployment, form } = call
  const { limits, clock } = services
  await reception.admit(call)
  const owner = await limits.account(deployment.ownerId)
  // The rate is taken before the body is read, because anyone may send a body to a public form.
  assertAllowed(limits.take(form.respond === 'immediately' ? 'async' : 'sync', owner), clock.now())
  await hideLimits(hidden(form), () => limits.assertWithinUsage(owner))
  return await reception.receive(call, (body) => start(call, body))
}

function hidden(form: FormParameters) {
  return { isAnonymous: isAnonymous(form), message: 'This form cannot be sent at the moment. Try again later.' }
}

/** Starts the run of a form. */
async function start(call: Call, { values, upload }: FormBody): Promise<Response> {
  const { services, deployment, form } = call
  const { workspaceId, workflowId, version } = deployment
  const given = inputOf(values, form)
  upload.check(given)
  const visitor = isAnonymous(form) ? visitorOf(call) : undefined
  const isAtOnce = form.respond === 'immediately'
  if (isAtOnce) services.assertAcceptingJobs()
  else services.assertAccepting(workspaceId, visitor)
  const executionId = newExecutionId()
  const input = await upload.store(given, { workspaceId, workflowId, executionId })
  call.headers['x-execution-id'] = executionId
  call.door.note(call.request, { executionId })
  const run = { workspaceId, workflowId, executionId, version: version ?? 0, trigger: 'form' as const, input }
  if (isAtOnce) {
    const accepted = await hideLimits(hidden(form), () => services.accept(run))
    call.headers['x-execution-id'] = accepted.executionId
    return jsonResponse({ success: true, executionId: accepted.executionId }, 202, call.headers)
  }
  // The run continues when the sender disconnects.
  allowSilence(call.request, call.server)
  const end = await hideLimits(hidden(form), () => services.execute({ ...run, plan: call.plan, visitor }))
  return await responseOf(call, end)
}

/** Throws INVALID_INPUT with a row for each field that does not fit. */
function inputOf(values: Record<string, unknown>, form: FormParameters): TriggerInput {
  const reading = readForm(values, form.fields)
  if (!reading.ok) throw problemsError('INVALID_INPUT', reading.details)
  return { input: reading.values, fields: reading.values }
}

async function responseOf(call: Call, ended: RunEnd): Promise<Response> {
  const { services, door, request, headers, form, path } = call
  const { executionId, failure } = ended.record
  const leadsOn = form.respond === 'next'
  if (ended.suspension) {
    const next = leadsOn ? { next: await openPage(services.pauses, call.plan, { executionId }) } : {}
    return pausedResponse(ended, headers, next)
  }
  if (leadsOn && !failure) return jsonResponse({ success: true, executionId, next: null }, 200, headers)
  if (failure) door.note(request, { runCode: failure.code })
  const end = isAnonymous(form) ? withoutDetails(ended, sorry) : ended
  // If the workflow responds with a page, the page gets an origin of its own.
  return sandboxed(await runResponse(end, headers, services), `/api/forms/${encodeURIComponent(path)}`)
}

function jsonResponse(body: object, status: number, headers: Record<string, string>): Response {
  headers['content-type'] = 'application/json'
  return new Response(JSON.stringify(body), { status, headers })
}
