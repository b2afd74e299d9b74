import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { AppError } from '../../../domain/errors.ts'
import { oneOf } from '../../../domain/one-of.ts'
import { isObject } from '../../../domain/run/input.ts'
import { pauseKinds } from '../../../domain/run/pause.ts'
import { readTime } from '../../../domain/text/iso-time.ts'
import type { AskedPause } from '../../../engine/jobs/pause-answers.ts'
import { endedBefore, unknownPause } from '../../../engine/jobs/pause-commands.ts'
import { waitMsMax } from '../../../language/wait-time.ts'
import type { Store } from '../../../store/store.ts'
import { assertMay, roleOf } from '../../access/auth.ts'
import type { Door } from '../../access/door.ts'
import { mayAnswer } from '../../access/pause-access.ts'
import { route } from '../../openapi/route.ts'
import { readJsonBody } from '../../requests/body.ts'
import { type CursorScope, readCursor, writeCursor } from '../../requests/cursor.ts'
import { Parameters } from '../../requests/parameters.ts'
import { ListedPause, PauseChange, PauseCounts, PauseDetail, PauseList } from '../../responses/pauses/pause-schemas.ts'
import { listedPause, pauseDetail } from '../../responses/pauses/paused-response.ts'
import { CancelResponse } from '../../responses/run-schemas.ts'
import type { Services } from '../../services.ts'

/** Each pause of a page is decrypted. */
const pageMax = 100
const pageDefault = 50
/** The most pauses of each kind that are counted. */
const countMax = 1_000

/** The open pauses of a workspace: `/api/workspaces/<id>/pauses`. */
export function pauseRoutes(services: Services, door: Door) {
  const { store, pauses, jobs, settings } = services
  const { answers, linksOf, environmentOf, clock } = services.runs.pauses
  /** Hides the secrets of the workspace in a question. Only those who may answer see the question as it was written. */
  async function hidingOf(workspaceId: string) {
    const { redactor } = await environmentOf(workspaceId)
    return <Asked extends Pick<AskedPause, 'content'>>(asked: Asked): Asked =>
      redactor ? { ...asked, content: JSON.parse(redactor.redact(JSON.stringify(asked.content))) } : asked
  }
  return new Elysia({ prefix: '/api/workspaces/:id/pauses' })
    .get(
      '',
      async ({ request, set, params: { id } }) => {
        assertMay(await door.requireKeyOrSession(request, set), id, 'read', 'workspace')
        const { workflowId, kind, limit, cursor } = readQuery(request.url)
        const scope: CursorScope = { of: id, order: 'asc', filters: JSON.stringify(['pauses', workflowId, kind]) }
        const after = cursor === undefined ? [0] : readCursor(cursor, scope)
        if (!after) throw new AppError('INVALID_CURSOR', 'cursor must be the nextCursor of the previous page.')
        const page = await store.listPauses({ workspaceId: id, workflowId, kind, after: after[0] ?? 0, limit })
        const last = page.length === limit ? page.at(-1) : undefined
        const hide = await hidingOf(id)
        return {
          data: page.map((pause) => listedPause(hide(answers.readListed(pause)), pause.workflowName)),
          nextCursor: last ? writeCursor([last.number], scope) : null,
        }
      },
      route({
        name: 'listPauses',
        summary: 'List pauses',
        description: 'The blocks at which runs of the workspace wait for a time or an answer, oldest first.',
        tag: 'Executions',
        query: t.Object({
          workflowId: t.Optional(t.String({ description: 'Only the pauses of this workflow.' })),
          kind: t.Optional(oneOf(pauseKinds, { description: 'Only the pauses of this kind.' })),
          limit: t.Optional(
            t.Integer({
              minimum: 1,
              maximum: pageMax,
              default: pageDefault,
              description: 'The most pauses of a page.',
            }),
          ),
          cursor: t.Optional(t.String({ description: 'The `nextCursor` of the previous page.' })),
        }),
        responses: { 200: PauseList },
        errors: ['INVALID_PARAMETERS', 'INVALID_CURSOR', 'NOT_FOUND'],
      }),
    )
    .get(
      '/counts',
      async ({ request, set, params: { id } }) => {
        assertMay(await door.requireKeyOrSession(request, set), id, 'read', 'workspace')
        const parameters = new Parameters(request.url)
        const workflowId = parameters.text('workflowId')
        parameters.assertValid()
        const data = await store.countPausesByBlock({ workspaceId: id, workflowId, max: countMax })
        const counted = (wanted: string) =>
          data.reduce((sum, { kind, count }) => sum + (kind === wanted ? count : 0), 0)
        return { data, complete: pauseKinds.every((kind) => counted(kind) < countMax) }
      },
      route({
        name: 'countPauses',
        summary: 'Count pauses',
        description:
          'Counts the open pauses of the workspace by kind; with `workflowId`, those of this workflow by kind and ' +
          'block. Counts at most the oldest 1,000 of each kind.',
        tag: 'Executions',
        query: t.Object({
          workflowId: t.Optional(t.String({ description: 'Only the pauses of this workflow.' })),
        }),
        responses: { 200: PauseCounts },
        errors: ['INVALID_PARAMETERS', 'NOT_FOUND'],
      }),
    )
    .get(
      '/:contextId',
      async ({ request, set, params: { id, contextId } }) => {
        const caller = await door.requireKeyOrSession(request, set)
        assertMay(caller, id, 'read', 'workspace')
        const asked = answers.read(await pauseOf(store, id, contextId))
        const { pause, content } = asked
        if (pause.state !== 'open') throw endedBefore(pause)
        const [user, workflow] = await Promise.all([store.findUser(caller.userId), store.getWorkflow(pause.workflowId)])
        const who = { role: roleOf(caller, id), email: user?.email.toLowerCase() ?? '' }
        const links = pause.kind !== 'wait' && mayAnswer(who, content) ? linksOf(contextId) : undefined
        const shown = links ? asked : (await hidingOf(id))(asked)
        return pauseDetail(shown, workflow?.document.name ?? null, links)
      },
      route({
        name: 'getPause',
        summary: 'Get a pause',
        description:
          'An open pause with its question and the answers so far. `url` and `callbackUrl` are for callers who may answer.',
        tag: 'Executions',
        responses: { 200: PauseDetail },
        errors: ['NOT_FOUND', 'ALREADY_RESUMED', 'EXPIRED', 'CANCELLED'],
      }),
    )
    .post(
      '/:contextId/resume',
      async ({ request, set, params: { id, contextId } }) => {
        assertMay(await door.requireKeyOrSession(request, set), id, 'write', 'workspace')
        await pauseOf(store, id, contextId)
        await pauses.resume(contextId)
        return { success: true, outcome: 'resumed' } as const
      },
      route({
        name: 'resumePause',
        summary: 'End a pause',
        description: 'The run continues at once. 409 when the pause has ended before.',
        tag: 'Executions',
        responses: { 200: t.Object({ success: t.Literal(true), outcome: t.Literal('resumed') }) },
        errors: ['FORBIDDEN', 'NOT_FOUND', 'ALREADY_RESUMED', 'EXPIRED', 'CANCELLED'],
      }),
    )
    .post(
      '/:contextId/cancel',
      async ({ request, set, params: { id, contextId } }) => {
        assertMay(await door.requireKeyOrSession(request, set), id, 'write', 'workspace')
        const pause = await pauseOf(store, id, contextId)
        // Its run may have gone on to another pause.
        if (pause.state !== 'open') throw endedBefore(pause)
        const cancelled = await jobs.cancel(pause.executionId)
        if (cancelled === 'elsewhere') {
          throw new AppError('OVERLOADED', 'Another process continues this run at the moment. Try again in a moment.')
        }
        if (!cancelled) throw new AppError('CONFLICT', 'The run of this pause has ended.')
        return { success: true, status: 'cancelled' } as const
      },
      route({
        name: 'cancelPause',
        summary: 'Cancel the run of a pause',
        description: 'The whole run ends as `CANCELLED`, with all its pauses.',
        tag: 'Executions',
        responses: { 200: CancelResponse },
        errors: [
          ...(['FORBIDDEN', 'NOT_FOUND', 'CONFLICT', 'OVERLOADED'] as const),
          ...(['ALREADY_RESUMED', 'EXPIRED', 'CANCELLED'] as const),
        ],
      }),
    )
    .post(
      '/:contextId/extend',
      async ({ request, set, params: { id, contextId } }) => {
        assertMay(await door.requireKeyOrSession(request, set), id, 'write', 'workspace')
        const body = await readJsonBody(request, settings.body)
        const found = await pauseOf(store, id, contextId)
        const until = untilOf(body, clock.now())
        if (until === null && found.kind === 'wait')
          throw new AppError('INVALID_INPUT', 'A wait must end at some time.')
        const pause = await pauses.extend(contextId, until)
        return listedPause((await hidingOf(id))(answers.readListed(pause)))
      },
      route({
        name: 'extendPause',
        summary: 'Change when a pause ends',
        tag: 'Executions',
        body: PauseChange,
        responses: { 200: ListedPause },
        errors: [
          ...(['INVALID_JSON', 'INVALID_INPUT', 'FORBIDDEN', 'NOT_FOUND'] as const),
          ...(['ALREADY_RESUMED', 'EXPIRED', 'CANCELLED'] as const),
        ],
      }),
    )
}

/** A pause of this workspace, open or not. Throws NOT_FOUND. */
async function pauseOf(store: Pick<Store, 'getPause'>, workspaceId: string, contextId: string) {
  const pause = await store.getPause(contextId)
  if (pause?.workspaceId !== workspaceId) throw unknownPause(contextId)
  return pause
}

function untilOf(body: unknown, now: number): number | null {
  const until = isObject(body) ? body['until'] : undefined
  if (until === null) return null
  const time = typeof until === 'string' ? readTime(until) : undefined
  if (time === undefined) {
    throw new AppError('INVALID_INPUT', 'until must be a time such as 2027-01-31T09:00:00Z, or null for never.')
  }
  if (time - now > waitMsMax) throw new AppError('INVALID_INPUT', 'until must be at most 400 days from now.')
  return time
}

function readQuery(url: string) {
  const parameters = new Parameters(url)
  const query = {
    workflowId: parameters.text('workflowId'),
    kind: parameters.oneOf('kind', pauseKinds),
    limit: parameters.whole('limit', 1, pageMax) ?? pageDefault,
    cursor: parameters.text('cursor'),
  }
  parameters.assertValid()
  return query
}
