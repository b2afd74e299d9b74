import { type Static, Type as t } from '@sinclair/typebox'
import { oneOf } from '../../domain/one-of.ts'
import { ErrorResponse, SkippedResponse } from '../errors.ts'
import { PausedResponse } from '../responses/pauses/pause-schemas.ts'
import { eventContent, jsonContent } from './content.ts'
import { operation } from './operation.ts'
import { traceParameters } from './trace-parameters.ts'

const metadata = t.Object({
  duration: t.Number({ description: 'Milliseconds.' }),
  startTime: t.String({ format: 'date-time' }),
  endTime: t.String({ format: 'date-time' }),
})

/** The response for a run that succeeded. */
export const RunResponse = t.Object(
  {
    success: t.Literal(true),
    executionId: t.String(),
    output: t.Unknown({ description: 'The output of the last block on the path.' }),
    metadata,
  },
  { $id: 'RunResult' },
)

/** The response for a run that failed: an error with facts about the run. */
export const RunFailureResponse = t.Object(
  {
    success: t.Literal(false),
    error: ErrorResponse.properties.error,
    code: oneOf(['EXECUTION_FAILED', 'EXECUTION_TIMEOUT']),
    executionId: t.String(),
    blockId: t.Union([t.String(), t.Null()], { description: 'The block that failed; null when no single block did.' }),
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
    executionId: t.String({ description: 'The three ids are equal.' }),
    status: t.Literal('queued'),
    createdAt: t.String({ format: 'date-time' }),
    statusUrl: t.String({ description: 'The address that returns the status of the run.' }),
    links: t.Object({ status: t.String() }),
  },
  { $id: 'Accepted' },
)
export type AcceptedResponse = Static<typeof AcceptedResponse>

const Input = t.Object(
  {
    stream: t.Optional(t.Boolean({ description: 'Whether the response is a stream of server-sent events.' })),
    selectedOutputs: t.Optional(
      t.Array(t.String(), {
        description:
          'Values to stream as soon as they are available, each as `blockName.path`. They are also the members of the ' +
          'final output. Block names are compared ignoring case and spaces. Without `stream`, they are only checked.',
      }),
    ),
  },
  {
    additionalProperties: true,
    description:
      "The fields of the trigger's input format. `GET /api/workflows/{id}/openapi.json` describes those of one workflow.",
  },
)

const events = [
  'data: {"blockId":"write","chunk":"Hello, "}',
  'data: {"blockId":"write","chunk":"Ada."}',
  'data: {"event":"done","success":true,"output":{"text":"Hello, Ada."},"metadata":{"duration":212}}',
  'data: [DONE]',
]

/** The execute endpoint in the OpenAPI document. The route checks and responds without schemas. */
export const executeDetail = {
  ...operation({
    name: 'executeWorkflow',
    summary: 'Execute a workflow',
    description:
      'Runs the active deployment with the JSON body as its input, and responds when the log entry of the run is on disk. ' +
      'An empty body means `{}`; JSON that is not an object becomes the member `input`. If the run reaches a response ' +
      "block, the response has that block's status, headers and body instead of the result below.\n\n" +
      'With `"stream": true` the response is a stream of server-sent events: `{ blockId, chunk }` for each piece of text or ' +
      'selected value, then, when the log entry is on disk, one `{ "event": "done", success, output, metadata, error?, ' +
      'code? }` whatever the outcome, then `[DONE]`. A failure before the first block gives an error as below. If the ' +
      'caller disconnects, the run is cancelled.\n\n' +
      'When all that is left of the run waits for longer than its timeout, the response is 202 with `status: "paused"`; a ' +
      'stream gets one `{ "event": "paused", … }` with the same members, and ends. The run then continues like an ' +
      'asynchronous one.\n\n' +
      'With `X-Execution-Mode: async` it responds as soon as the run is on disk, with the address of its status. After a ' +
      'crash of the service, such a run resumes after the last block that ended; a block that was running runs ' +
      'again.\n\n' +
      'An input field of the type `files` takes file items, `{ type: "file", data, name, mime? }` with a base64 data URI of ' +
      'at most 20 MB, or `{ type: "url", data, name, mime? }` with an address. The run reads them as file objects: `url` ' +
      '(signed, valid for a limited time), `name`, `size`, `type`, `uploadedAt`, `expiresAt`.',
    tag: 'Executions',
    access: 'external',
    errors: [
      ...(['INVALID_JSON', 'INVALID_INPUT', 'USAGE_LIMIT_EXCEEDED', 'WORKFLOW_NOT_DEPLOYED', 'FORBIDDEN'] as const),
      ...(['NOT_FOUND', 'CONFLICT', 'IDEMPOTENCY_IN_PROGRESS', 'IDEMPOTENCY_MISMATCH', 'WORKFLOW_LIMIT'] as const),
      ...(['EXECUTION_FAILED', 'EXECUTION_TIMEOUT'] as const),
    ],
  }),
  parameters: [
    {
      name: 'X-Execution-Mode',
      in: 'header' as const,
      required: false,
      description: '`async`: respond with 202 before the run.',
      schema: { type: 'string' as const, enum: ['async', 'sync'] },
    },
    {
      name: 'Idempotency-Key',
      in: 'header' as const,
      required: false,
      description:
        'Starts one run for all requests with this key, body and mode within 24 hours, unless the run fails. A repeat ' +
        'gets the stored response with `Idempotent-Replayed: true`. Streams ignore it.',
      schema: { type: 'string' as const, minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
    },
    {
      name: 'X-Sim-Stream-Protocol',
      in: 'header' as const,
      required: false,
      description:
        '`agent-events-v1`: a stream also has `chunk_reset` messages, and `thinking` and `tool` messages if the body has ' +
        '`"includeThinking": true` and `"includeToolCalls": true`.',
      schema: { type: 'string' as const },
    },
    ...traceParameters,
  ],
  requestBody: { content: jsonContent(Input) },
  responses: {
    200: {
      description: 'The run succeeded, or its stream starts.',
      content: { ...jsonContent(RunResponse), ...eventContent(events) },
    },
    202: {
      description:
        'The asynchronous run is on disk and waits for its turn, or the run is paused and continues without its ' +
        'caller, or the limits of the workflow skip the start and nothing runs.',
      content: jsonContent(t.Union([AcceptedResponse, PausedResponse, SkippedResponse])),
    },
    default: { description: "The status, headers and body of the workflow's response block." },
  },
}
