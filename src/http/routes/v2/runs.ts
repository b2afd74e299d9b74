import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { problemsError } from '../../../domain/errors.ts'
import { oneOf } from '../../../domain/one-of.ts'
import { isObject } from '../../../domain/run/input.ts'
import { assertMay, type Caller, type Need } from '../../access/auth.ts'
import type { Door, ResponseSet } from '../../access/door.ts'
import { enterV2 } from '../../access/enter-v2.ts'
import { routeV2 } from '../../openapi/route-v2.ts'
import type { PeerCall } from '../../peers/peers.ts'
import { parseJsonBody, readBody } from '../../requests/body.ts'
import { Parameters } from '../../requests/parameters.ts'
import { othersIn } from '../../requests/v2/unknown-members.ts'
import { respondWithBody, writeObject } from '../../responses/json-text.ts'
import { acceptedV2 } from '../../responses/v2/accepted-response.ts'
import { type DetailWanted, type FoundRunV2, findRunV2 } from '../../responses/v2/run-detail.ts'
import { listRunsV2, type RunQueryV2 } from '../../responses/v2/run-list.ts'
import {
  AcceptedResponseV2,
  CancelledResponseV2,
  type CancelledV2,
  RunDetailResponseV2,
  RunListV2,
  runStatusesV2,
} from '../../responses/v2/run-schemas.ts'
import type { Services } from '../../services.ts'
import { cancelRun, findRun } from '../execution/find-run.ts'
import { resumeErrors } from '../pauses/paused-executions.ts'
import { resumeRun } from '../pauses/resume-run.ts'

const runs = '/api/v2/workflows/:id/runs'
const pageMax = 100
const pageDefault = 50
/** Each of them is looked up in a trace. */
const selectedMax = 100

type RunContext = PeerCall & { set: ResponseSet; params: { id: string; runId: string } }

/** Runs of a workflow: `/api/v2/workflows/<id>/runs`. */
export function runRoutesV2(services: Services, door: Door) {
  const { settings, unsent } = services
  /** Finds the run that the address names, for a caller with this right. `again` reads it once more. */
  const openRun = async (context: RunContext, need: Need, wanted: DetailWanted) => {
    const { id: workflowId, runId: executionId } = context.params
    const caller = await enterV2(door, context)
    door.note(context.request, { workflowId, executionId })
    const again = () => findRunV2(services, executionId, wanted)
    return { found: await findRun(services, context, again, { caller, executionId, need, workflowId }), again }
  }
  return new Elysia()
    .get(
      runs,
      async (context) => {
        const {
          request,
          params: { id },
        } = context
        const caller = await enterV2(door, context)
        const place = { workspaceId: await workspaceOf(services, caller, id), workflowId: id }
        return await listRunsV2(services, place, readQuery(request.url))
      },
      routeV2({
        name: 'listRunsV2',
        summary: 'List the runs of a workflow',
        description:
          'First the runs that have not ended, then the ended ones, each newest first. `order=asc` lists only those that ' +
          'have ended, oldest first. With several processes, the list contains only those synchronous runs in flight ' +
          'that the responding process has. A page may have fewer runs than `limit` although there is a `nextCursor`.',
        query: t.Object({
          status: t.Optional(oneOf(runStatusesV2, { description: 'Only the runs with this status.' })),
          trigger: t.Optional(t.String({ description: 'Only the runs with this kind of trigger, such as `api`.' })),
          startDate: t.Optional(t.String({ description: 'RFC 3339; runs that started at this time or later.' })),
          endDate: t.Optional(t.String({ description: 'RFC 3339; runs that started at this time or earlier.' })),
          limit: t.Optional(
            t.Integer({ minimum: 1, maximum: pageMax, default: pageDefault, description: 'The most runs of a page.' }),
          ),
          cursor: t.Optional(
            t.String({ description: 'The `nextCursor` of the previous page, with the same filters.' }),
          ),
          order: t.Optional(oneOf(['desc', 'asc'], { default: 'desc', description: 'The order of the runs.' })),
        }),
        responses: { 200: RunListV2 },
        errors: ['INVALID_PARAMETERS', 'INVALID_CURSOR', 'NOT_FOUND'],
      }),
    )
    .get(
      `${runs}/:runId`,
      async (context) => {
        const { found } = await openRun(context, 'read', readDetail(context.request.url))
        if (found instanceof Response) return found as never
        const { text } = writeObject({ data: found.text })
        return respondWithBody<typeof RunDetailResponseV2.static>(context.set, unsent.logBody(found.workspaceId, text))
      },
      routeV2({
        name: 'getRunV2',
        summary: 'Get a run',
        query: t.Object({
          includeOutput: t.Optional(t.Boolean({ default: false, description: 'Adds the `output`.' })),
          selectedOutputs: t.Optional(
            t.String({ description: 'Outputs of blocks, as `blockId` or `blockId.path`, separated by commas.' }),
          ),
        }),
        responses: { 200: RunDetailResponseV2 },
        errors: ['INVALID_PARAMETERS', 'NOT_FOUND', 'PAYLOAD_TOO_LARGE'],
      }),
    )
    .post(
      `${runs}/:runId/cancel`,
      async (context) => {
        const { runId } = context.params
        const { found, again } = await openRun(context, 'write', { includeOutput: false, selected: undefined })
        if (found instanceof Response) return found as never
        const cancelled = !reasonOf(found.status) && (await cancelRun(services, context, runId))
        if (cancelled instanceof Response) return cancelled as never
        const last = cancelled ? found : ((await again()) ?? found)
        return { data: cancellation(runId, last, cancelled) }
      },
      routeV2({
        name: 'cancelRunV2',
        summary: 'Cancel a run',
        description: 'Stops its blocks. `success` is false for a run that has ended before; `reason` says how.',
        responses: { 200: CancelledResponseV2 },
        errors: ['FORBIDDEN', 'NOT_FOUND', 'OVERLOADED'],
      }),
    )
    .post(
      `${runs}/:runId/resume`,
      async (context) => {
        const {
          request,
          set,
          params: { id, runId },
        } = context
        const caller = await enterV2(door, context)
        door.note(request, { workflowId: id, executionId: runId })
        assertMay(caller, await workspaceOf(services, caller, id), 'execute', 'workflow')
        const { contextId, answer } = await readResume(services, request)
        await resumeRun(services, caller, answer, { workflowId: id, executionId: runId, contextId })
        set.status = 202
        set.headers['x-run-id'] = runId
        return { data: acceptedV2(settings.baseUrl(), { workflowId: id, executionId: runId }) }
      },
      routeV2({
        name: 'resumeRunV2',
        summary: 'Resume a paused run',
        description: 'An approval takes `input.approved` (true by default), and the other members as its fields.',
        body: t.Object(
          {
            contextId: t.String({ description: 'The pause: `paused.contextId` of the run.' }),
            input: t.Optional(t.Record(t.String(), t.Unknown(), { description: 'The answer.' })),
          },
          { additionalProperties: false },
        ),
        responses: { 202: AcceptedResponseV2 },
        errors: resumeErrors,
      }),
    )
}

/** The workspace of a workflow whose runs the caller may read. The runs of a deleted workflow stay until retention. */
async function workspaceOf({ store }: Services, caller: Caller, workflowId: string): Promise<string> {
  const row = (await store.getWorkflow(workflowId)) ?? (await store.findDeletedWorkflow(workflowId))
  assertMay(caller, row?.workspaceId, 'read', 'workflow')
  return row?.workspaceId ?? ''
}

function readQuery(url: string): RunQueryV2 {
  const parameters = new Parameters(url)
  const query = {
    status: parameters.oneOf('status', runStatusesV2),
    trigger: parameters.shortText('trigger', 100),
    startDate: parameters.time('startDate'),
    endDate: parameters.time('endDate'),
    limit: parameters.whole('limit', 1, pageMax) ?? pageDefault,
    cursor: parameters.text('cursor'),
    order: parameters.oneOf('order', ['desc', 'asc']) ?? 'desc',
  }
  parameters.assertValid()
  return query
}

function readDetail(url: string): DetailWanted {
  const parameters = new Parameters(url)
  const selected = parameters.list('selectedOutputs')
  if (selected && selected.length > selectedMax) {
    parameters.missing('selectedOutputs', `can have at most ${selectedMax} entries`)
  }
  const wanted = { includeOutput: parameters.flag('includeOutput'), selected }
  if (parameters.flag('includeFileBase64')) {
    parameters.missing('includeFileBase64', 'must be false: files have a signed downloadPath')
  }
  parameters.assertValid()
  return wanted
}

function reasonOf(status: FoundRunV2['status']): CancelledV2['reason'] {
  const reasons = { completed: 'already_completed', failed: 'already_failed', cancelled: 'already_cancelled' } as const
  return status in reasons ? reasons[status as keyof typeof reasons] : undefined
}

/** `found`: the run before, or after if it could not be cancelled. */
function cancellation(runId: string, { status, isJob }: FoundRunV2, success: boolean): CancelledV2 {
  const reason = success ? undefined : (reasonOf(status) ?? 'already_completed')
  return {
    ...{ success, runId, redisAvailable: true, durablyRecorded: success && isJob },
    ...{ locallyAborted: success && status === 'running', pausedCancelled: success && status === 'paused' },
    ...(reason && { reason }),
  }
}

/** Reads the body of a resumption: the pause, and a request that has the answer as its body. */
async function readResume({ settings }: Services, request: Request): Promise<{ contextId: string; answer: Request }> {
  const limits = settings.bodyWithFiles
  try {
    const text = await readBody(request, limits)
    const body = await parseJsonBody(request, text, limits)
    const members = isObject(body) ? body : {}
    const problems = othersIn(members, ['contextId', 'input']).map((name) => {
      return { path: name, message: `The body cannot have the member "${name}".` }
    })
    const { contextId } = members
    if (typeof contextId !== 'string') problems.push({ path: 'contextId', message: '"contextId" must be a string.' })
    if (problems.length > 0) throw problemsError('INVALID_INPUT', problems)
    const headers = { 'content-type': 'application/json' }
    return { contextId: contextId as string, answer: new Request(request.url, { method: 'POST', headers, body: text }) }
  } finally {
    limits.budget.release(request)
  }
}
