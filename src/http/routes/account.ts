import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { RateState } from '../../accounts/limits.ts'
import { foldersOf } from '../../domain/workflow/folders.ts'
import { chooseWorkspace, roleOf } from '../access/auth.ts'
import type { Door } from '../access/door.ts'
import { route } from '../openapi/route.ts'
import { Parameters } from '../requests/parameters.ts'
import { FolderList, UsageLimits, WorkspaceList } from '../responses/account-schemas.ts'
import { isoTime } from '../responses/schema-parts.ts'
import type { Services } from '../services.ts'

/** The workspaces and folders that a caller can see, and the limits of its account. */
export function accountRoutes(services: Services, door: Door) {
  const { store } = services
  return new Elysia({ prefix: '/api' })
    .get(
      '/users/me/usage-limits',
      async ({ request, set }) => {
        const key = await door.requireKeyOrSession(request, set)
        const { workflowExecutionRateLimit, usage } = await services.limits.report(key.userId)
        const { sync, async } = workflowExecutionRateLimit
        const { currentPeriodCost, limit, plan } = usage
        return {
          success: true,
          rateLimit: { sync: usageState(sync), async: usageState(async), authType: 'api' },
          usage: { currentPeriodCost, limit, plan },
        } as const
      },
      route({
        name: 'getUsageLimits',
        summary: 'Get the limits of your account',
        description:
          'Executions left in the current minute, and the cost of this month (UTC). Executions count for the account ' +
          'that owns the workspace, whichever key starts them.',
        tag: 'Account',
        responses: { 200: UsageLimits },
      }),
    )
    .get(
      '/workspaces',
      async ({ request, set }) => {
        const key = await door.requireKeyOrSession(request, set)
        const rows = await store.listWorkspaces(key.userId)
        return {
          data: rows.flatMap(({ id, name, createdAt }) => {
            const role = roleOf(key, id)
            return role === undefined ? [] : [{ id, name, role, createdAt: isoTime(createdAt) }]
          }),
        }
      },
      route({
        name: 'listWorkspaces',
        summary: 'List the workspaces that you can see',
        tag: 'Account',
        responses: { 200: WorkspaceList },
      }),
    )
    .get(
      '/folders',
      async ({ request, set }) => {
        const key = await door.requireKeyOrSession(request, set)
        const parameters = new Parameters(request.url)
        const named = parameters.text('workspaceId')
        parameters.assertValid()
        const rows = await store.listWorkflows(chooseWorkspace(key, named, 'read'))
        return { data: foldersOf(rows.flatMap(({ document }) => document.folder ?? [])) }
      },
      route({
        name: 'listFolders',
        summary: 'List the folders of a workspace',
        description: 'A folder exists while it contains workflows. The ids are those of the filter `folderIds`.',
        tag: 'Account',
        query: t.Object({
          workspaceId: t.Optional(
            t.String({
              description: 'When absent: the only workspace that you can see, or the only one that you own.',
            }),
          ),
        }),
        responses: { 200: FolderList },
        errors: ['INVALID_PARAMETERS', 'NOT_FOUND'],
      }),
    )
}

function usageState({ limit, remaining, resetAt }: RateState) {
  return { isLimited: remaining <= 0, limit, remaining, resetAt: isoTime(resetAt) }
}
