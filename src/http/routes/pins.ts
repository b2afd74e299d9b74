import { type Static, Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { AppError } from '../../domain/errors.ts'
import { recordOf } from '../../domain/record-of.ts'
import { pinBytesMax, pinsBytesMax } from '../../domain/workflow/pin.ts'
import { findWorkflow } from '../access/auth.ts'
import type { Door } from '../access/door.ts'
import { route } from '../openapi/route.ts'
import { readShape } from '../requests/body.ts'
import { withBytesMax } from '../requests/body-limits.ts'
import { JsonText, respondWithBody, writeObject } from '../responses/json-text.ts'
import { isoTime, listOf, Time } from '../responses/schema-parts.ts'
import type { Services } from '../services.ts'

const NewPin = t.Object({
  output: recordOf(t.Unknown(), {
    description: 'The outputs of the block, by name. Members that are left out are null.',
  }),
})
const Pin = t.Object({
  blockId: t.String(),
  output: recordOf(t.Unknown(), { description: 'Without the secrets of the workspace.' }),
  updatedAt: Time,
})
const PinList = listOf(Pin)
type PinList = Static<typeof PinList>
const SavedPin = t.Object({ blockId: t.String(), updatedAt: Time })
/** The members around the output, and the spaces of a formatted one. */
const bodyBytesMax = 4 * pinBytesMax

/** Outputs that manual runs of a draft use instead of running a block. */
export function pinRoutes(services: Services, door: Door) {
  const { pins, settings, unsent } = services
  return new Elysia({ prefix: '/api/workflows/:id/pins' })
    .get(
      '',
      async ({ request, set, params: { id } }) => {
        const key = await door.requireKeyOrSession(request, set)
        const workflow = await findWorkflow(services, key, id, 'read')
        const shown = await pins.shown(workflow)
        const data = shown.map(({ blockId, output, updatedAt }) => {
          return writeObject({ blockId, output: new JsonText(output), updatedAt: isoTime(updatedAt) }).text
        })
        return respondWithBody<PinList>(set, unsent.logBody(workflow.workspaceId, `{"data":[${data.join(',')}]}`))
      },
      route({
        name: 'listPins',
        summary: 'List the pinned outputs of a workflow',
        description: 'Manual runs of the draft use them instead of running these blocks. Deployed versions never do.',
        tag: 'Workflows',
        responses: { 200: PinList },
        errors: ['NOT_FOUND'],
      }),
    )
    .put(
      '/:blockId',
      async ({ request, set, params: { id, blockId } }) => {
        const key = await door.requireKeyOrSession(request, set)
        door.note(request, { workflowId: id })
        const workflow = await findWorkflow(services, key, id, 'write')
        const { output } = await readShape(request, NewPin, withBytesMax(settings.body, bodyBytesMax))
        const { updatedAt } = await pins.set(workflow, blockId, output)
        return { blockId, updatedAt: isoTime(updatedAt) }
      },
      route({
        name: 'pinOutput',
        summary: 'Pin an output to a block',
        description:
          `An output may have at most ${pinBytesMax} bytes as JSON, and all of a workflow ${pinsBytesMax}. An output that ` +
          'the log redacted or shortened is refused.',
        tag: 'Workflows',
        body: NewPin,
        responses: { 200: SavedPin },
        errors: ['INVALID_JSON', 'INVALID_INPUT', 'PAYLOAD_TOO_LARGE', 'FORBIDDEN', 'NOT_FOUND'],
      }),
    )
    .delete(
      '/:blockId',
      async ({ request, set, params: { id, blockId } }) => {
        const key = await door.requireKeyOrSession(request, set)
        door.note(request, { workflowId: id })
        await findWorkflow(services, key, id, 'write')
        if (!(await pins.delete(id, blockId))) throw new AppError('NOT_FOUND', `Nothing is pinned to "${blockId}".`)
        set.status = 204
      },
      route({
        name: 'unpinOutput',
        summary: 'Unpin the output of a block',
        tag: 'Workflows',
        responses: { 204: t.Void({ description: 'Unpinned. The block runs again.' }) },
        errors: ['FORBIDDEN', 'NOT_FOUND'],
      }),
    )
}
