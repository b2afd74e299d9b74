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
  server: t.String({ maxLength: 8_192, description: 'The address of an MCP server.' }),
  credential: t.Optional(t.String({ description: 'The name of a credential of the workspace.' })),
  isFresh: t.Optional(t.Boolean({ description: 'Whether to ask the server again, without the cache.' })),
})
const Tool = t.Object({
  name: t.String(),
  description: t.String(),
  parameters: t.Record(t.String(), t.Unknown(), { description: 'The JSON schema of its arguments.' }),
})

/** The tools of an MCP server, for the forms of blocks and agents. */
export function mcpToolRoutes({ mcpTools, settings }: Services, door: Door) {
  return new Elysia().post(
    '/mcp/tools',
    async ({ request, set }) => {
      const caller = await door.requireSession(request, set)
      const question = await readShape(request, Question, settings.body)
      // Calls the server with a credential of the workspace.
      assertMay(caller, question.workspaceId, 'write', 'workspace')
      const { workspaceId, server, credential = '', isFresh = false } = question
      return { data: [...(await mcpTools({ workspaceId, server, credential, isFresh, signal: request.signal }))] }
    },
    editorRoute({
      name: 'listMcpTools',
      summary: 'List the tools of an MCP server',
      body: Question,
      responses: { 200: listOf(Tool) },
      errors: ['INVALID_JSON', 'INVALID_INPUT', 'FORBIDDEN', 'NOT_FOUND', 'CONFLICT'],
    }),
  )
}
