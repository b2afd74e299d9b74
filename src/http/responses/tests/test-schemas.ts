import { Type as t } from '@sinclair/typebox'
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
