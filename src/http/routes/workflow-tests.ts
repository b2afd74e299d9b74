import { Elysia } from 'elysia'
import { testsBytesMax, testsMax } from '../../domain/workflow/workflow-test.ts'
import { findWorkflow } from '../access/auth.ts'
import type { Door } from '../access/door.ts'
import { route } from '../openapi/route.ts'
import { readShape } from '../requests/body.ts'
import { withBytesMax } from '../requests/body-limits.ts'
import { etagOf, revisionIn } from '../requests/revision.ts'
import { isoTime } from '../responses/schema-parts.ts'
import { NewTests, SavedTests, TestsResponse } from '../responses/tests/test-schemas.ts'
import type { Services } from '../services.ts'

const inBody = ['INVALID_JSON', 'INVALID_INPUT', 'PAYLOAD_TOO_LARGE', 'FORBIDDEN', 'NOT_FOUND'] as const
/** The spaces of a formatted file. */
const bodyBytesMax = 4 * testsBytesMax

/** The tests of a workflow's draft. */
export function workflowTestRoutes(services: Services, door: Door) {
  const { tests, settings } = services
  return new Elysia({ prefix: '/api/workflows/:id/tests' })
    .get(
      '',
      async ({ request, set, params: { id } }) => {
        const key = await door.requireKeyOrSession(request, set)
        const workflow = await findWorkflow(services, key, id, 'read')
        const saved = await tests.of(id)
        set.headers['etag'] = etagOf(saved)
        const updatedAt = saved.updatedAt === undefined ? null : isoTime(saved.updatedAt)
        return { workflow: workflow.document.name, tests: saved.tests, revision: saved.revision, updatedAt }
      },
      route({
        name: 'listTests',
        summary: 'Get the tests of a workflow',
        description: 'The response is also a test file for `millrace test`.',
        tag: 'Workflows',
        responses: { 200: TestsResponse },
        errors: ['NOT_FOUND'],
      }),
    )
    .put(
      '',
      async ({ request, set, params: { id } }) => {
        const key = await door.requireKeyOrSession(request, set)
        door.note(request, { workflowId: id })
        const workflow = await findWorkflow(services, key, id, 'write')
        const sent = await readShape(request, NewTests, withBytesMax(settings.body, bodyBytesMax))
        const save = { by: key.userId, ifRevision: revisionIn(request.headers) }
        const saved = await tests.save(workflow, sent.tests, save)
        set.headers['etag'] = etagOf(saved)
        return { revision: saved.revision, updatedAt: isoTime(saved.updatedAt) }
      },
      route({
        name: 'replaceTests',
        summary: 'Replace the tests of a workflow',
        description:
          `Takes the content of a test file: at most ${testsMax} tests with ${testsBytesMax} bytes as JSON. Secrets of the ` +
          'workspace are saved as `{{NAME}}`. With `If-Match` (the `ETag` of the changed tests), tests that were saved in ' +
          'the meantime are not overwritten: 409.',
        tag: 'Workflows',
        body: NewTests,
        responses: { 200: SavedTests },
        errors: [...inBody, 'INVALID_PARAMETERS', 'CONFLICT'],
      }),
    )
}
