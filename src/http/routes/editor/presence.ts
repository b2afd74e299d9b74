import { type Static, Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { EditorEvent } from '../../../domain/workflow/editor-event.ts'
import { assertMay, findWorkflow, mayEdit } from '../../access/auth.ts'
import { allowSilence } from '../../access/connection.ts'
import type { Door } from '../../access/door.ts'
import { editorRoute } from '../../openapi/route.ts'
import { readShape } from '../../requests/body.ts'
import { Parameters } from '../../requests/parameters.ts'
import { respondWith, writeObject } from '../../responses/json-text.ts'
import { maybe } from '../../responses/schema-parts.ts'
import { SavedWorkflow } from '../../responses/workflow-schemas.ts'
import type { Services } from '../../services.ts'
import { liveStream } from '../../streams/live-stream.ts'
import { NewerDrafts } from './newer-drafts.ts'

/** The messages of `GET /api/editor/workflows/<id>/events`, as `data:` lines. */
export type WorkflowEvent = EditorEvent

const Place = t.Object({
  editorId: t.String({ maxLength: 100, description: 'From the first message of the stream.' }),
  blockId: maybe(t.String({ maxLength: 200, description: 'The only selected block.' })),
})
const Present = t.Object({
  present: t.Boolean({ description: 'False when the editor has no open stream here. Open it again.' }),
})

const Newer = t.Object({ workflow: maybe(SavedWorkflow) })
type Newer = Static<typeof Newer>

/** Who has a workflow open, and changes of its draft while it is open. */
export function presenceRoutes(services: Services, door: Door) {
  const { store, clock, editors, settings, peers } = services
  const drafts = new NewerDrafts(services)
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
      async ({ request, set, params: { id }, server }) => {
        const caller = await door.requireSession(request, set)
        const { editorId, blockId } = await readShape(request, Place, settings.body)
        // An open stream proves access, so the workflow, which may be large, is read only to say that there is none.
        const present = editors.place(id, editorId, caller.userId, blockId)
        if (!present && !editors.has(id, editorId)) {
          const thing = { kind: 'editor', id: `${id}:${editorId}` } as const
          const forwarding = { body: { editorId, blockId }, isVital: false }
          const elsewhere = await peers.forward({ request, server, set }, thing, forwarding)
          if (elsewhere) return elsewhere as never
        }
        if (!present) await findWorkflow(services, caller, id, 'read')
        return { present }
      },
      editorRoute({
        name: 'placeEditor',
        summary: 'Say which block an open editor shows',
        body: Place,
        responses: { 200: Present },
        errors: ['INVALID_JSON', 'INVALID_INPUT', 'PAYLOAD_TOO_LARGE', 'NOT_FOUND'],
      }),
    )
    .get(
      '/workflows/:id/newer',
      async ({ request, set, params: { id } }) => {
        const caller = await door.requireSession(request, set)
        const parameters = new Parameters(request.url)
        const revision = parameters.whole('revision', 0, Number.MAX_SAFE_INTEGER) ?? 0
        parameters.assertValid()
        const found = await drafts.find(id, revision)
        assertMay(caller, found?.row.workspaceId, 'read', 'workflow')
        const isNewer = found && found.row.revision > revision
        const workflow = isNewer ? await found.text(mayEdit(caller, found.row.workspaceId)) : null
        return respondWith<Newer>(set, writeObject({ workflow }))
      },
      editorRoute({
        name: 'getNewerDraft',
        summary: 'Get the draft of a workflow and its check if it was saved after a revision',
        query: t.Object({ revision: t.Optional(t.Integer({ description: 'The revision that the caller has.' })) }),
        responses: { 200: Newer },
        errors: ['INVALID_PARAMETERS', 'NOT_FOUND'],
      }),
    )

  async function emailOf(userId: string): Promise<string | null> {
    return (await store.findUser(userId))?.email ?? null
  }
}
