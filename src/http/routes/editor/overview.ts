import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { logIdOf } from '../../../domain/ids.ts'
import { oneOf } from '../../../domain/one-of.ts'
import { runStatuses } from '../../../domain/run/log.ts'
import type { EntryFacts } from '../../../domain/run/log-entry.ts'
import { triggerKinds } from '../../../domain/workflow/workflow.ts'
import type { WorkflowOverview } from '../../../store/dashboard-store.ts'
import { chooseWorkspace } from '../../access/auth.ts'
import type { Door } from '../../access/door.ts'
import { editorRoute } from '../../openapi/route.ts'
import { Parameters } from '../../requests/parameters.ts'
import { isoTime, listOf, maybe, Time } from '../../responses/schema-parts.ts'
import type { Services } from '../../services.ts'

const Overview = t.Object({
  id: t.String(),
  name: t.String(),
  description: maybe(t.String()),
  folder: maybe(t.String()),
  createdAt: Time,
  updatedAt: Time,
  updatedBy: maybe(t.String({ description: 'E-mail of the account that saved it last, if known.' })),
  revision: t.Integer(),
  version: maybe(t.Integer({ description: 'The active one; null: not deployed.' })),
  deployedAt: maybe(Time),
  hasChanges: t.Boolean({ description: 'The draft would run differently from the active version.' }),
  lastRun: maybe(
    t.Object({
      logId: t.String(),
      executionId: t.String(),
      level: oneOf(['info', 'error']),
      status: oneOf(runStatuses),
      trigger: oneOf(triggerKinds),
      startedAt: Time,
      endedAt: Time,
      durationMs: t.Number(),
    }),
  ),
  runs: t.Array(t.Integer(), {
    description: 'Runs per hour of their start, oldest first; the last hour is the current one.',
  }),
  errors: t.Array(t.Integer(), { description: 'Failed runs per hour, without cancelled ones.' }),
})

/** Hours in the overview. */
const hours = 24

/** An overview of the workflows of a workspace. */
export function overviewRoutes({ store, clock }: Services, door: Door) {
  return new Elysia({ prefix: '/workflows' }).get(
    '',
    async ({ request, set }) => {
      const caller = await door.requireSession(request, set)
      const parameters = new Parameters(request.url)
      const named = parameters.text('workspaceId')
      parameters.assertValid()
      const rows = await store.listWorkflowOverviews(chooseWorkspace(caller, named, 'read'), clock.now(), hours)
      return { data: rows.map(overviewOf) }
    },
    editorRoute({
      name: 'listWorkflowOverviews',
      summary: 'List workflows with their state and their runs of the last 24 hours',
      description:
        'Takes `workspaceId`; when absent, the only workspace that you can see, or the only one that you own.',
      responses: { 200: listOf(Overview) },
      errors: ['INVALID_PARAMETERS', 'NOT_FOUND'],
    }),
  )
}

function overviewOf({ createdAt, updatedAt, activeVersion, deployedAt, lastRun, ...overview }: WorkflowOverview) {
  return {
    ...overview,
    createdAt: isoTime(createdAt),
    updatedAt: isoTime(updatedAt),
    version: activeVersion,
    deployedAt: deployedAt === null ? null : isoTime(deployedAt),
    lastRun: lastRun && runOf(lastRun),
  }
}

function runOf({ sequence, executionId, level, status, trigger, startedAt, endedAt, durationMs }: EntryFacts) {
  const times = { startedAt: isoTime(startedAt), endedAt: isoTime(endedAt), durationMs }
  return { logId: logIdOf(sequence), executionId, level, status, trigger, ...times }
}
