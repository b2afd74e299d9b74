import { type Static, Type as t } from '@sinclair/typebox'
import { oneOf } from '../domain/one-of.ts'
import { ErrorResponse } from './errors.ts'
import { operation } from './operation.ts'

const metadata = t.Object({
  duration: t.Number({ description: 'Milliseconds.' }),
  startTime: t.String({ format: 'date-time' }),
  endTime: t.String({ format: 'date-time' }),
})

/** A run that succeeded, for its caller. */
export const RunResponse = t.Object(
  {
    success: t.Literal(true),
    executionId: t.String(),
    output: t.Unknown({ description: 'The output of the last block of the path.' }),
    metadata,
  },
  { $id: 'RunResult' },
)

/** A run that failed, for its caller: an error with the facts of the run beside it. */
export const RunFailureResponse = t.Object(
  {
    success: t.Literal(false),
    error: ErrorResponse.properties.error,
    code: oneOf(['EXECUTION_FAILED', 'EXECUTION_TIMEOUT']),
    executionId: t.String(),
    blockId: t.Union([t.String(), t.Null()], { description: 'The block that failed; null when it was no single one.' }),
    blockName: t.Union([t.String(), t.Null()]),
    output: t.Unknown(),
    metadata,
  },
  { $id: 'RunFailure' },
)
export type RunFailureResponse = Static<typeof RunFailureResponse>

/** The response to an asynchronous execution. */
export const AcceptedResponse = t.Object(
  {
    success: t.Literal(true),
    async: t.Literal(true),
    taskId: t.String(),
    jobId: t.String(),
    executionId: t.String({ description: 'All three ids are the same text.' }),
    status: t.Literal('queued'),
    createdAt: t.String({ format: 'date-time' }),
    statusUrl: t.String({ description: 'Where to ask how it goes.' }),
    links: t.Object({ status: t.String() }),
  },
  { $id: 'Accepted' },
)
export type AcceptedResponse = Static<typeof AcceptedResponse>

const Input = t.Object(
  {
    stream: t.Optional(t.Boolean({ description: 'True: the response is a stream of server-sent events.' })),
    selectedOutputs: t.Optional(
      t.Array(t.String(), {
        description:
          '`blockName.path` each: the values to stream as soon as they are there, and the members of the output at the end. ' +
          'Names are compared without case and spaces. Without `stream` they are checked only.',
      }),
    ),
  },
  {
    additionalProperties: true,
    description:
      "The fields of the trigger's input format. `GET /api/workflows/{id}/openapi.json` has them for one workflow.",
  },
)

const stream = [
  'data: {"blockId":"write","chunk":"Hello, "}',
  'data: {"blockId":"write","chunk":"Ada."}',
  'data: {"event":"done","success":true,"output":{"text":"Hello, Ada."},"metadata":{"duration":212}}',
  'data: [DONE]',
]
const events = {
  'text/event-stream': {
    schema: { type: 'string' } as unknown as Record<string, never>,
    example: `${stream.join('\n\n')}\n\n`,
  },
}

/** The execute endpoint's part of the OpenAPI document; the route checks and responses without schemas. */
export const executeDetail = {
  ...operation({
    name: 'executeWorkflow',
    summary: 'Execute a workflow',
    description:
      'Runs the active deployment with the JSON body as its input, and responses when the log entry of the run is on disk. ' +
      'An empty body is `{}`; JSON that is no object becomes the member `input`. A workflow whose run reaches a response ' +
      "block responds with that block's status, headers and body instead of the result below.\n\n" +
      'With `"stream": true` the response is a stream of server-sent events: `{ blockId, chunk }` for each piece of text or ' +
      'selected value, then one `{ "event": "done", success, output, metadata, error?, code? }`, whatever the outcome, when ' +
      'the log entry is on disk, then `[DONE]`. What goes wrong before the first block is an error as below. A caller who ' +
      'leaves cancels the run.\n\n' +
      'With `X-Execution-Mode: async` it responses as soon as the run is on disk, with the address to ask for the outcome; ' +
      'such a run goes on after a crash of the service behind the last block that ended, so a block that was in flight ' +
      'runs again.\n\n' +
      'An input field of the type `files` takes file items, `{ type: "file", data, name, mime? }` with a base64 data URI of ' +
      '20 MB at most, or `{ type: "url", data, name, mime? }` with an address. The run reads them as file objects: `url` ' +
      '(signed, of limited life), `name`, `size`, `type`, `uploadedAt`, `expiresAt`.',
    tag: 'Executions',
    access: 'external',
    errors: [
      ...(['INVALID_JSON', 'INVALID_INPUT', 'USAGE_LIMIT_EXCEEDED', 'WORKFLOW_NOT_DEPLOYED', 'FORBIDDEN'] as const),
      'NOT_FOUND',
      ...(['EXECUTION_FAILED', 'EXECUTION_TIMEOUT'] as const),
    ],
  }),
  parameters: [
    {
      name: 'X-Execution-Mode',
      in: 'header' as const,
      required: false,
      description: '`async`: response before the run, with 202.',
      schema: { type: 'string' as const, enum: ['async', 'sync'] },
    },
  ],
  requestBody: { content: json(Input) },
  responses: {
    200: { description: 'The run succeeded, or its stream begins.', content: { ...json(RunResponse), ...events } },
    202: { description: 'The asynchronous run is on disk and waits for its turn.', content: json(AcceptedResponse) },
    default: { description: "What the workflow's response block says: its status, headers and body." },
  },
}

/** The plugin's types know schemas of OpenAPI 3.0 only; TypeBox's are JSON schemas, as 3.1 has them. */
function json(schema: object): { 'application/json': { schema: Record<string, never> } } {
  return { 'application/json': { schema: schema as Record<string, never> } }
}
