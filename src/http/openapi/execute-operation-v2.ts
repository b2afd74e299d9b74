import { Type as t } from '@sinclair/typebox'
import { AcceptedResponseV2, RunResponseV2, SkippedResponseV2 } from '../responses/v2/run-schemas.ts'
import { eventContent, jsonContent } from './content.ts'
import { operation } from './operation.ts'
import { traceParameters } from './trace-parameters.ts'

const flag = (description: string) => t.Optional(t.Boolean({ default: false, description }))

const Body = t.Object(
  {
    input: t.Optional(t.Record(t.String(), t.Unknown(), { description: "The fields of the trigger's input format." })),
    async: flag('Respond with 202 before the run starts.'),
    stream: flag('Respond with a stream of server-sent events.'),
    selectedOutputs: t.Optional(
      t.Array(t.String(), { description: 'Values to return or stream, each as `blockName.path`. Not with `async`.' }),
    ),
    executionTimeoutSeconds: t.Optional(
      t.Integer({ minimum: 1, maximum: 604_800, description: 'The time limit of an asynchronous run.' }),
    ),
    includeThinking: flag('Stream the reasoning of models. Needs `X-Sim-Stream-Protocol: agent-events-v1`.'),
    includeToolCalls: flag('Stream the tool calls of agents. Needs `X-Sim-Stream-Protocol: agent-events-v1`.'),
    includeFileBase64: t.Optional(t.Literal(false, { description: 'Files have a signed `url` instead.' })),
    base64MaxBytes: t.Optional(t.Integer({ minimum: 1, maximum: 16_777_216, description: 'Has no effect.' })),
  },
  { additionalProperties: false },
)

const events = [
  'data: {"blockId":"write","chunk":"Hello, "}',
  'data: {"blockId":"write","chunk":"Ada."}',
  'data: {"event":"final","data":{"success":true,"output":{"text":"Hello, Ada."}}}',
  'data: "[DONE]"',
]

/** The execute endpoint of `/api/v2` in the OpenAPI document. The route checks and responds without schemas. */
export const executeDetailV2 = {
  ...operation({
    name: 'executeWorkflowV2',
    summary: 'Execute a workflow',
    description:
      'Runs the active deployment. If the run fails or exceeds its time limit, the response has the status 200 and ' +
      '`status: "failed"`. A paused run has `status: "paused"` and continues without its caller. The content of a ' +
      'response block is the `output`; it does not change the status or the headers of the response.\n\n' +
      'With `"stream": true`, the response is a stream: `{ blockId, chunk }` for each piece of text or selected value, ' +
      'then one `{ "event": "final", "data": { success, output } }` or `{ "event": "error", "error" }`, then ' +
      '`"[DONE]"`. With `X-Sim-Stream-Protocol: agent-events-v1`, it also has `chunk_reset`, `thinking` and `tool` ' +
      'messages.\n\n' +
      '`X-Run-Id` sets the ID of the run. An ID can be used only once: a second request with it gets 409 with ' +
      '`details.code: "RUN_ID_CONFLICT"`.',
    tag: 'API v2',
    access: 'external',
    errors: [
      ...(['INVALID_JSON', 'INVALID_INPUT', 'USAGE_LIMIT_EXCEEDED', 'WORKFLOW_NOT_DEPLOYED', 'FORBIDDEN'] as const),
      ...(['NOT_FOUND', 'RUN_ID_CONFLICT', 'WORKFLOW_LIMIT', 'EXECUTION_TIMEOUT'] as const),
    ],
    isBodyOptional: true,
  }),
  parameters: [
    {
      name: 'X-Run-Id',
      in: 'header' as const,
      required: false,
      description: 'An ID for the run, which no other run has used.',
      schema: { type: 'string' as const, minLength: 1, maxLength: 128, pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$' },
    },
    {
      name: 'X-Sim-Stream-Protocol',
      in: 'header' as const,
      required: false,
      description: '`agent-events-v1`: the stream has messages about agents.',
      schema: { type: 'string' as const },
    },
    ...traceParameters,
  ],
  requestBody: { content: jsonContent(Body) },
  responses: {
    200: {
      description: 'The run has ended or is paused, or its stream starts.',
      content: { ...jsonContent(RunResponseV2), ...eventContent(events) },
    },
    202: {
      description: 'The asynchronous run waits for its turn, or the limits of the workflow skip the start.',
      content: jsonContent(t.Union([AcceptedResponseV2, SkippedResponseV2])),
    },
  },
}
