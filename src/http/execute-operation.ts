import { type Static, t } from 'elysia'
import { ErrorAnswer } from './errors.ts'

/** The answer to an asynchronous execution. */
export const Accepted = t.Object({
  success: t.Literal(true),
  async: t.Literal(true),
  taskId: t.String(),
  jobId: t.String(),
  executionId: t.String({ description: 'All three ids are the same text.' }),
  status: t.Literal('queued'),
  createdAt: t.String(),
  statusUrl: t.String({ description: 'Where to ask how it goes.' }),
  links: t.Object({ status: t.String() }),
})
export type Accepted = Static<typeof Accepted>

const Result = t.Object({
  success: t.Boolean(),
  executionId: t.String(),
  output: t.Unknown({ description: 'The output of the last block of the path.' }),
  metadata: t.Object({
    duration: t.Number({ description: 'Milliseconds.' }),
    startTime: t.String(),
    endTime: t.String(),
  }),
})

/** The plugin's types know schemas of OpenAPI 3.0 only; TypeBox's are JSON schemas, as 3.1 has them. */
function json(schema: object): { 'application/json': { schema: Record<string, never> } } {
  return { 'application/json': { schema: schema as Record<string, never> } }
}

/** What the OpenAPI document says of the execute endpoint. */
export const executeDetail = {
  summary: 'Execute a workflow',
  description:
    'Runs the active deployment with the JSON body as its input, and answers when the log entry of the run is on disk. ' +
    'With `X-Execution-Mode: async` it answers at once with the address to ask for the outcome; such a run goes on after ' +
    'a crash of the service behind the last block that ended, so a block that was in flight runs again.',
  parameters: [
    {
      name: 'X-Execution-Mode',
      in: 'header' as const,
      required: false,
      description: '`async`: answer before the run, with 202.',
      schema: { type: 'string' as const, enum: ['async', 'sync'] },
    },
  ],
  tags: ['Executions'],
  security: [{ apiKey: [] as string[] }],
  requestBody: { content: { 'application/json': { schema: { type: 'object' as const, additionalProperties: true } } } },
  responses: {
    200: {
      description: "The run's result, or what the workflow's response block answers.",
      content: json(Result),
    },
    202: { description: 'The asynchronous run is on disk and waits for its turn.', content: json(Accepted) },
    ...Object.fromEntries(
      (
        [
          [400, 'The body is no JSON or does not fit the input format.'],
          [401, 'No API key, or one that is not valid.'],
          [402, "The account's usage limit is reached."],
          [403, 'The workflow is not deployed, or the key is that of a viewer.'],
          [404, 'No such workflow, or it has no API trigger.'],
          [413, 'The body is too large.'],
          [429, 'Too many executions in this minute.'],
          [500, 'The run failed.'],
          [503, 'No free place for a run, or the storage is unavailable.'],
          [504, 'The run took too long.'],
        ] as const
      ).map(([status, description]) => [status, { description, content: json(ErrorAnswer) }]),
    ),
  },
}
