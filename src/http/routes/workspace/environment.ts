import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { AppError, problemsError } from '../../../domain/errors.ts'
import { isObject } from '../../../domain/run/input.ts'
import { assertMay } from '../../access/auth.ts'
import type { Door } from '../../access/door.ts'
import { route } from '../../openapi/route.ts'
import { readJsonBody } from '../../requests/body.ts'
import { isoTime, listOf, Time } from '../../responses/schema-parts.ts'
import type { Services } from '../../services.ts'

const Variable = t.Object({
  name: t.String(),
  plain: t.Boolean({ description: 'Whether logs may show its value.' }),
  updatedAt: Time,
})
const VariableResponse = t.Object(Variable.properties, { $id: 'Variable' })
const EnvironmentList = listOf(Variable)
const NewValue = t.Object({
  value: t.String({ description: 'At most 64 KB of text.' }),
  plain: t.Optional(t.Boolean({ default: false, description: 'Whether logs may show it.' })),
})

/** Environment variables of a workspace: `/api/workspaces/<id>/environment`. Values are never returned. */
export function environmentRoutes(services: Services, door: Door) {
  const { store, environments, settings } = services
  return new Elysia({ prefix: '/api/workspaces/:id/environment' })
    .get(
      '',
      async ({ request, set, params: { id } }) => {
        assertMay(await door.requireKeyOrSession(request, set), id, 'read', 'workspace')
        const rows = await store.listEnvironment(id)
        return { data: rows.map(({ name, plain, updatedAt }) => ({ name, plain, updatedAt: isoTime(updatedAt) })) }
      },
      route({
        name: 'listEnvironment',
        summary: 'List environment variables',
        description: 'The variables of a workspace, sorted by name. Values are never returned.',
        tag: 'Environment',
        responses: { 200: EnvironmentList },
        errors: ['NOT_FOUND'],
      }),
    )
    .put(
      '/:name',
      async ({ request, set, params: { id, name } }) => {
        assertMay(await door.requireKeyOrSession(request, set), id, 'write', 'workspace')
        const { value, plain } = readVariable(await readJsonBody(request, settings.body))
        const { updatedAt } = await environments.set({ workspaceId: id, name, value, plain })
        return { name, plain, updatedAt: isoTime(updatedAt) }
      },
      route({
        name: 'setVariable',
        summary: 'Set an environment variable',
        description:
          'Workflows of the workspace read it as `{{NAME}}`, starting with the next run. The value is encrypted at rest. ' +
          'Logs show `{{NAME}}` instead of a value of six or more characters, unless it is `plain`.',
        tag: 'Environment',
        body: NewValue,
        responses: { 200: VariableResponse },
        errors: ['INVALID_JSON', 'INVALID_INPUT', 'FORBIDDEN', 'NOT_FOUND'],
      }),
    )
    .delete(
      '/:name',
      async ({ request, set, params: { id, name } }) => {
        assertMay(await door.requireKeyOrSession(request, set), id, 'write', 'workspace')
        if (!(await environments.unset(id, name))) {
          throw new AppError('NOT_FOUND', 'The workspace has no variable of this name.')
        }
        set.status = 204
      },
      route({
        name: 'unsetVariable',
        summary: 'Delete an environment variable',
        description: 'Runs that read it fail from then on.',
        tag: 'Environment',
        responses: { 204: t.Void({ description: 'Deleted.' }) },
        errors: ['FORBIDDEN', 'NOT_FOUND'],
      }),
    )
}

function readVariable(body: unknown): { value: string; plain: boolean } {
  const { value, plain = false } = isObject(body) ? body : {}
  const details = [
    ...(typeof value === 'string' ? [] : [{ path: 'value', message: 'value must be given, as text.' }]),
    ...(typeof plain === 'boolean' ? [] : [{ path: 'plain', message: 'plain must be true or false.' }]),
  ]
  if (typeof value === 'string' && typeof plain === 'boolean') return { value, plain }
  throw problemsError('INVALID_INPUT', details)
}
