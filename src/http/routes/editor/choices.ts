import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { assertMay } from '../../access/auth.ts'
import type { Door } from '../../access/door.ts'
import { editorRoute } from '../../openapi/route.ts'
import { readShape } from '../../requests/body.ts'
import { listOf } from '../../responses/schema-parts.ts'
import type { Services } from '../../services.ts'

const Question = t.Object({
  workspaceId: t.String(),
  connector: t.String(),
  operation: t.String(),
  parameter: t.String(),
  credential: t.Optional(t.String()),
  params: t.Optional(t.Record(t.String(), t.Unknown())),
  isFresh: t.Optional(t.Boolean({ description: 'Asks the service again.' })),
})
const Choice = t.Object({ value: t.Unknown(), label: t.String() })

/** The choices of a parameter that another operation lists, such as the channels of a chat service. */
export function choiceRoutes({ choices, settings }: Services, door: Door) {
  return new Elysia().post(
    '/connectors/choices',
    async ({ request, set }) => {
      const caller = await door.requireSession(request, set)
      const question = await readShape(request, Question, settings.body)
      // Calls the service with a credential of the workspace.
      assertMay(caller, question.workspaceId, 'write', 'workspace')
      const { credential = '', params = {}, isFresh = false, ...rest } = question
      const found = await choices.of({ ...rest, credential, params, signal: request.signal }, isFresh)
      return { data: [...found] }
    },
    editorRoute({
      name: 'listChoices',
      summary: 'List the choices of a parameter of an operation',
      body: Question,
      responses: { 200: listOf(Choice) },
      errors: ['INVALID_JSON', 'INVALID_INPUT', 'FORBIDDEN', 'NOT_FOUND', 'CONFLICT'],
    }),
  )
}
