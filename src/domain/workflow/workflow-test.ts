import { type Static, Type as t } from '@sinclair/typebox'
import { oneOf } from '../one-of.ts'
import { recordOf } from '../record-of.ts'
import { startKinds } from './workflow.ts'

const closed = { additionalProperties: false }
/** Characters of an address that a mock can name. */
export const addressCharsMax = 4_096
export const mocksMax = 1_000
const BlockName = t.String({ maxLength: 200 })
const Mock = t.Object(
  {
    block: t.Optional(BlockName),
    request: t.Optional(
      t.Object(
        { method: t.Optional(t.String({ maxLength: 32 })), url: t.Optional(t.String({ maxLength: addressCharsMax })) },
        closed,
      ),
    ),
    response: t.Optional(
      t.Object(
        { status: t.Integer(), headers: t.Optional(recordOf(t.String())), data: t.Optional(t.Unknown()) },
        closed,
      ),
    ),
    output: t.Optional(recordOf(t.Unknown())),
  },
  closed,
)
/** Each member may be a matcher. */
export const TestCall = t.Object({ method: t.Unknown(), url: t.Unknown(), body: t.Optional(t.Unknown()) }, closed)
export const WorkflowTest = t.Object(
  {
    name: t.String({ minLength: 1, maxLength: 200 }),
    input: t.Optional(t.Unknown()),
    trigger: t.Optional(oneOf(startKinds)),
    now: t.Optional(t.String()),
    seed: t.Optional(t.Integer()),
    mocks: t.Optional(t.Array(Mock, { maxItems: mocksMax })),
    expect: t.Object(
      {
        success: t.Optional(t.Boolean()),
        output: t.Optional(t.Unknown()),
        path: t.Optional(t.Array(BlockName, { maxItems: 10_000 })),
        calls: t.Optional(t.Array(TestCall)),
        costBelow: t.Optional(t.Number()),
      },
      closed,
    ),
  },
  closed,
)
export type WorkflowTest = Static<typeof WorkflowTest>
export type TestCall = Static<typeof TestCall>
export const testsMax = 500
export const testsBytesMax = 4_194_304
export const TestFile = t.Object({ workflow: t.Optional(t.String()), tests: t.Array(WorkflowTest) })
export type TestFile = Static<typeof TestFile>
