import { type Static, Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { AppError } from '../../../domain/errors.ts'
import { findWorkflow } from '../../access/auth.ts'
import type { Door } from '../../access/door.ts'
import { editorRoute } from '../../openapi/route.ts'
import { readShape } from '../../requests/body.ts'
import { JsonText, respondWithBody, shownJson, writeObject } from '../../responses/json-text.ts'
import { maybe } from '../../responses/schema-parts.ts'
import type { Services } from '../../services.ts'

const Question = t.Object({ blockId: t.String({ minLength: 1 }) })
const TriedPoll = t.Object({
  count: t.Integer({ description: 'The items of the list, of which those with an ID count.' }),
  items: t.Array(t.Unknown(), { description: `The first items, without the secrets of the workspace.` }),
  error: maybe(t.String({ description: 'Why the poll failed, or why items were ignored.' })),
})

/** Trying a polling trigger of a draft. */
export function tryPollRoutes(services: Services, door: Door) {
  const { polls, manual, settings, runs, unsent } = services
  return new Elysia().post(
    '/workflows/:id/try-poll',
    async ({ request, set, params: { id } }) => {
      const caller = await door.requireSession(request, set)
      door.note(request, { workflowId: id })
      // Sends a request with a credential of the workspace.
      const { workspaceId, document } = await findWorkflow(services, caller, id, 'write')
      const { blockId } = await readShape(request, Question, settings.body)
      const answer = await polls.tryOut({ document, blockId, workspaceId, signal: request.signal })
      if (!answer) throw new AppError('NOT_FOUND', 'The draft has no polling trigger with this block ID.')
      const items = answer.kind === 'items' ? answer.items : []
      const shown: JsonText[] = []
      let chars = 0
      const secrets = await manual.secretsOf(workspaceId)
      for (const { item } of items.slice(0, itemsShown)) {
        const text = await shownJson({ item }, secrets, runs.webhooks.inSlices)
        chars += text.text.length
        if (chars > charsShown && shown.length > 0) break
        shown.push(text)
      }
      const error = answer.kind === 'failed' ? answer.message : answer.kind === 'items' ? answer.problem : null
      const { text } = writeObject({ count: items.length, error, items: listText(shown) })
      return respondWithBody<Static<typeof TriedPoll>>(set, unsent.logBody(workspaceId, text))
    },
    editorRoute({
      name: 'tryPoll',
      summary: 'Try a polling trigger of the draft',
      description: 'Sends the request of the trigger, remembers nothing and starts nothing.',
      body: Question,
      responses: { 200: TriedPoll },
      errors: ['INVALID_JSON', 'INVALID_INPUT', 'FORBIDDEN', 'NOT_FOUND'],
    }),
  )
}

/** Each text is `{"item":…}`. */
function listText(texts: readonly JsonText[]): JsonText {
  return new JsonText(`[${texts.map(({ text }) => text.slice('{"item":'.length, -1)).join(',')}]`)
}

const itemsShown = 20
const charsShown = 1_000_000
