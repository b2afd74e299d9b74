import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { EditorEvent } from '../../../domain/workflow/editor-event.ts'
import { findWorkflow } from '../../access/auth.ts'
import { allowSilence } from '../../access/connection.ts'
import type { Door } from '../../access/door.ts'
import { editorRoute } from '../../openapi/route.ts'
import { readShape } from '../../requests/body.ts'
import { maybe } from '../../responses/schema-parts.ts'
import type { Services } from '../../services.ts'
import { liveStream } from '../../streams/live-stream.ts'

/** The messages of `GET /api/editor/workflows/<id>/events`, as `data:` lines. */
export type WorkflowEvent = EditorEvent

const Place = t.Object({
  editorId: t.String({ maxLength: 100, description: 'From the first message of the stream.' }),
  blockId: maybe(t.String({ maxLength: 200, description: 'The only selected block.' })),
})
const Present = t.Object({
  present: t.Boolean({ description: 'False when the editor has no open stream here. Open it again.' }),
})

/** Who has a workflow open, and changes of its draft while it is open. */
export function presenceRoutes(services: Services, door: Door) {
  const { store, clock, editors, settings } = services
  return new Elysia()
    .get(
      '/workflows/:id/events',
      async ({ request, set, params: { id }, server }) => {
        const caller = await door.requireSession(request, set)
        door.note(request, { workflowId: id })
        const { userId } = caller
        const email = await emailOf(userId)
        const { workspaceId, revision, updatedAt, updatedBy } = await findWorkflow(services, caller, id, 'read')
        const savedBy = updatedBy === null ? null : await emailOf(updatedBy)
        const visitor = {
          ...{ workflowId: id, workspaceId, userId, email: email ?? userId },
          draft: { revision, savedAt: updatedAt, savedBy },
        }
        allowSilence(request, server)
        return liveStream({
          clock,
          signal: request.signal,
          headers: { 'x-request-id': String(set.headers['x-request-id']) },
          watch: (watcher) => editors.join(visitor, watcher),
          mayWatch: () => door.mayStillRead(request, workspaceId),
        }) as Response
      },
      editorRoute({
        name: 'followWorkflow',
        summary: 'Follow the draft of a workflow and the people who have it open',
        description:
          'Sends `joined` first, then `editors` when somebody arrives, leaves or selects another block, and `saved` when ' +
          'the draft was saved. While others are there, it sends `call` every few seconds: answer it with a place.',
        responses: { 200: t.Any({ description: 'A stream of server-sent events.' }) },
        errors: ['NOT_FOUND', 'OVERLOADED'],
      }),
    )
    .post(
      '/workflows/:id/presence',
      async ({ request, set, params: { id } }) => {
        const caller = await door.requireSession(request, set)
        await findWorkflow(services, caller, id, 'read')
        const { editorId, blockId } = await readShape(request, Place, settings.body)
        return { present: editors.place(id, editorId, caller.userId, blockId) }
      },
      editorRoute({
        name: 'placeEditor',
        summary: 'Say which block an open editor shows',
        body: Place,
        responses: { 200: Present },
        errors: ['INVALID_JSON', 'INVALID_INPUT', 'PAYLOAD_TOO_LARGE', 'NOT_FOUND'],
      }),
    )

  async function emailOf(userId: string): Promise<string | null> {
    return (await store.findUser(userId))?.email ?? null
  }
}
