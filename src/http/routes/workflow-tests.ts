import { Elysia } from 'elysia'
import { testsBytesMax, testsMax } from '../../domain/workflow/workflow-test.ts'
import type { TestResult } from '../../engine/tests/suite.ts'
import { findWorkflow } from '../access/auth.ts'
import type { Door } from '../access/door.ts'
import { route } from '../openapi/route.ts'
import { readOptionalShape, readShape } from '../requests/body.ts'
import { withBytesMax } from '../requests/body-limits.ts'
import { etagOf, revisionIn } from '../requests/revision.ts'
import { isoTime } from '../responses/schema-parts.ts'
import {
  MadeTest,
  NewTests,
  SavedTests,
  TestFromRun,
  TestReport,
  TestRunRequest,
  TestsResponse,
} from '../responses/tests/test-schemas.ts'
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
    .post(
      '/run',
      async ({ request, set, params: { id } }) => {
        const key = await door.requireKeyOrSession(request, set)
        door.note(request, { workflowId: id })
        const workflow = await findWorkflow(services, key, id, 'execute')
        const { names, update = false } = await readOptionalShape(request, TestRunRequest, settings.body)
        const wish = { names, update: update ? { by: key.userId } : undefined, signal: request.signal }
        const report = await tests.run(workflow, wish)
        return { ...report, results: report.results.map(resultOf) }
      },
      route({
        name: 'runTests',
        summary: 'Run tests against the draft',
        description:
          'Runs the draft with the input, the clock and the answers of each test. No request leaves the service, and the ' +
          'log and the usage do not change. A request that no mock answers fails its test.',
        tag: 'Workflows',
        body: TestRunRequest,
        responses: { 200: TestReport },
        errors: [...inBody, 'CONFLICT', 'CANCELLED', 'OVERLOADED'],
      }),
    )
    .post(
      '/from-run',
      async ({ request, set, params: { id } }) => {
        const key = await door.requireKeyOrSession(request, set)
        door.note(request, { workflowId: id })
        const workflow = await findWorkflow(services, key, id, 'write')
        const sent = await readShape(request, TestFromRun, settings.body)
        const made = await tests.addFromRun(workflow, sent, { by: key.userId, signal: request.signal })
        set.status = sent.save === false ? 200 : 201
        return made
      },
      route({
        name: 'addTestFromRun',
        summary: 'Make a test from a run',
        description:
          'Adds a test with the input of a run in the log, the answers to its requests, and its outcome as the expectation. ' +
          'With `"save": false`, the response has the test, and the tests of the workflow stay as they are.',
        tag: 'Workflows',
        body: TestFromRun,
        responses: { 200: MadeTest, 201: MadeTest },
        errors: [...inBody, 'CONFLICT', 'CANCELLED', 'OVERLOADED'],
      }),
    )
}

/** `expected` would be a keyword of our schemas. */
function resultOf({ differences, ...result }: TestResult) {
  return {
    ...result,
    differences: differences.map(({ expected, ...rest }) => {
      return { ...rest, ...(expected === undefined ? {} : { expect: expected }) }
    }),
  }
}
