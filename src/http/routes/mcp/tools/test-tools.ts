import { Type as t } from '@sinclair/typebox'
import { isObject } from '../../../../domain/run/input.ts'
import { testsMax, WorkflowTest } from '../../../../domain/workflow/workflow-test.ts'
import { findWorkflow, type Need } from '../../../access/auth.ts'
import { type BuildingTool, defineTool, type ToolContext } from './tool.ts'
import { workflowId } from './workflow-tools.ts'

const closed = { additionalProperties: false }
const name = t.String({ minLength: 1, maxLength: 200 })

const getTests = defineTool({
  name: 'get_tests',
  title: 'Read the tests of a workflow',
  description: 'Returns the tests of a workflow: input, mocks and expectations. run_tests runs them against the draft.',
  needs: 'read',
  input: t.Object({ workflowId }, closed),
  hasDocument: true,
  run: async (context, { workflowId: id }) => {
    const { tests, revision } = await context.api('GET', await pathOf(context, id, 'read'))
    return { workflowId: id, tests, revision }
  },
})

const setTests = defineTool({
  name: 'set_tests',
  title: 'Write tests of a workflow',
  description:
    'Adds tests, replaces those with the same name, and removes tests by name. A test is {"name","input","mocks",' +
    '"expect"}. Mocks answer the requests of the draft, because none leaves the service: {"block":"<name of the ' +
    'block>","output":{…}}, or {"request":{"method","url"},"response":{"status","data"}}. "expect" has "success", ' +
    '"output" (matches partially; {"$any":"string"} and {"$match":"<regex>"} match values that vary), "path" (names ' +
    'of the blocks that run), "calls" and "costBelow". Call run_tests afterwards.',
  needs: 'write',
  input: t.Object(
    {
      workflowId,
      tests: t.Optional(t.Array(WorkflowTest, { maxItems: testsMax })),
      remove: t.Optional(t.Array(name, { maxItems: testsMax, description: 'Names of tests.' })),
    },
    closed,
  ),
  hasDocument: true,
  async run(context, { workflowId: id, tests = [], remove = [] }) {
    const { api } = context
    const path = await pathOf(context, id, 'write')
    const { tests: before, revision } = await api('GET', path)
    const merged = new Map(Array.isArray(before) ? before.map((test: unknown) => [nameOf(test), test]) : [])
    for (const each of remove) merged.delete(each)
    for (const test of tests) merged.set(test.name, test)
    // Tests that somebody else saves in the meantime are not lost.
    const headers = { 'if-match': `"${String(revision)}"` }
    const saved = await api('PUT', path, { body: { tests: [...merged.values()] }, headers })
    return { workflowId: id, names: [...merged.keys()], revision: saved['revision'] }
  },
})

const createTest = defineTool({
  name: 'create_test',
  title: 'Make a test from a run',
  description:
    'Adds a test with the input of a run, the answers to its requests as mocks, and its outcome as the expectation. ' +
    'list_runs shows the runs. Change the test with set_tests if it expects too much.',
  needs: 'write',
  input: t.Object(
    { workflowId, executionId: t.String({ minLength: 1, maxLength: 100 }), name: t.Optional(name) },
    closed,
  ),
  run: async (context, { workflowId: id, ...body }) =>
    await context.api('POST', `${await pathOf(context, id, 'write')}/from-run`, { body, signal: context.signal }),
})

const runTests = defineTool({
  name: 'run_tests',
  title: 'Run the tests of a workflow',
  description:
    'Runs the tests against the draft, and says what differs. No request leaves the service, and nothing is logged. ' +
    'A request that no mock answers fails its test. "stale" tests name blocks that the draft no longer has. With ' +
    '"update", the outcomes become the expectations.',
  needs: 'execute',
  input: t.Object(
    {
      workflowId,
      names: t.Optional(t.Array(name, { maxItems: testsMax, description: 'The tests to run; all if absent.' })),
      update: t.Optional(t.Boolean()),
    },
    closed,
  ),
  run: async (context, { workflowId: id, ...body }) =>
    await context.api('POST', `${await pathOf(context, id, 'execute')}/run`, { body, signal: context.signal }),
})

/** The address of the tests of a workflow in the workspace of the endpoint. The key may reach others. */
async function pathOf({ services, caller }: ToolContext, id: string, need: Need): Promise<string> {
  const row = await findWorkflow(services, caller, id, need)
  return `/api/workflows/${encodeURIComponent(row.id)}/tests`
}

const nameOf = (test: unknown) => (isObject(test) ? String(test['name']) : '')

export const testTools: readonly BuildingTool[] = [getTests, setTests, createTest, runTests]
