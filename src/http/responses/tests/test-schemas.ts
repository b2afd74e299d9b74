import { Type as t } from '@sinclair/typebox'
import { oneOf } from '../../../domain/one-of.ts'
import { recordOf } from '../../../domain/record-of.ts'
import { WorkflowTest } from '../../../domain/workflow/workflow-test.ts'
import { maybe, Time } from '../schema-parts.ts'

const revision = t.Integer({
  description: 'Rises with every save of the tests; also their `ETag`. 0: none were ever saved.',
})
const workflow = t.String({ description: 'The name of the workflow.' })

export const TestsResponse = t.Object({ workflow, tests: t.Array(WorkflowTest), revision, updatedAt: maybe(Time) })
export const NewTests = t.Object({
  workflow: t.Optional(t.String({ description: 'Ignored: the address names the workflow.' })),
  tests: t.Array(WorkflowTest),
})
export const SavedTests = t.Object({ revision, updatedAt: Time })

export const TestRunRequest = t.Object(
  {
    names: t.Optional(t.Array(t.String(), { maxItems: 1_000, description: 'The tests to run. Absent: all.' })),
    update: t.Optional(
      t.Boolean({ description: 'Replaces the expectations of the tests by what happened, and saves them.' }),
    ),
  },
  { additionalProperties: false },
)

const TestDifference = t.Object({
  path: t.String({ description: 'What differs, such as `output.total`.' }),
  message: t.String(),
  expect: t.Optional(t.Unknown({ description: 'The expectation of the test.' })),
  actual: t.Optional(t.Unknown()),
})
const TestResult = t.Object({
  name: t.String(),
  status: oneOf(['passed', 'failed', 'stale'], {
    description: '`stale`: the test names blocks that the draft no longer has.',
  }),
  durationMs: t.Number(),
  differences: t.Array(TestDifference),
  renames: maybe(
    recordOf(t.String(), { description: 'Of a stale test: the blocks that it probably means, by the names in it.' }),
  ),
})
export const TestReport = t.Object({
  passed: t.Integer(),
  failed: t.Integer(),
  durationMs: t.Number(),
  results: t.Array(TestResult),
  revision,
})

export const TestFromRun = t.Object(
  {
    executionId: t.String({ minLength: 1, maxLength: 100 }),
    name: t.Optional(t.String({ minLength: 1, maxLength: 200 })),
    save: t.Optional(t.Boolean({ description: 'With `false`, the test is only returned. Default: true.' })),
  },
  { additionalProperties: false },
)
export const MadeTest = t.Object({ name: t.String(), revision, test: WorkflowTest })
