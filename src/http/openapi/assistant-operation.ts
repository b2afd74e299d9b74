import { type Static, Type as t } from '@sinclair/typebox'
import { oneOf } from '../../domain/one-of.ts'
import { recordOf } from '../../domain/record-of.ts'
import { maybe } from '../responses/schema-parts.ts'
import { FindingResponse } from '../responses/workflow-schemas.ts'
import { eventContent, jsonContent } from './content.ts'
import { operation } from './operation.ts'

const textCharsMax = 20_000

/** The conversation so far, and the draft as it is on the canvas. */
export const AssistantRequest = t.Object(
  {
    messages: t.Array(
      t.Object({
        role: oneOf(['user', 'assistant']),
        content: t.String({ minLength: 1, maxLength: textCharsMax }),
      }),
      {
        minItems: 1,
        maxItems: 40,
        description: 'The conversation, oldest first. The user must have sent the last message.',
      },
    ),
    document: t.Optional(
      recordOf(t.Unknown(), { description: 'The draft that the assistant works on; by default the saved one.' }),
    ),
  },
  { $id: 'AssistantRequest' },
)
export type AssistantRequest = Static<typeof AssistantRequest>

const tokens = t.Object({ prompt: t.Integer(), completion: t.Integer(), total: t.Integer() })

/** The messages of the stream, as `data:` lines. The last line is `[DONE]`. */
export const AssistantEvent = t.Union(
  [
    t.Object({ event: t.Literal('text'), text: t.String({ description: 'A piece of the text.' }) }),
    t.Object({
      event: t.Literal('tool'),
      name: t.String(),
      subject: t.String({ description: 'What the call is about.' }),
      status: oneOf(['started', 'succeeded', 'failed']),
      message: t.Optional(maybe(t.String({ description: 'Why the tool refused the call.' }))),
    }),
    t.Object({
      event: t.Literal('cost'),
      model: t.String(),
      tokens,
      usd: maybe(
        t.Number({ description: 'The cost of the reply so far; null when the price of the model is unknown.' }),
      ),
    }),
    t.Object({
      event: t.Literal('proposal'),
      changes: t.Array(
        t.Object({
          path: t.Array(t.String()),
          before: t.Optional(t.Unknown()),
          after: t.Optional(t.Unknown({ description: 'Absent: the value is removed.' })),
        }),
        { description: 'What the assistant proposes to change in the draft. Nothing is saved.' },
      ),
      findings: t.Array(FindingResponse),
    }),
    t.Object({ event: t.Literal('failed'), code: t.String(), message: t.String() }),
  ],
  { $id: 'AssistantEvent' },
)
export type AssistantEvent = Static<typeof AssistantEvent>

const events = [
  'data: {"event":"tool","name":"edit_workflow","subject":"1 edit","status":"started"}',
  'data: {"event":"tool","name":"edit_workflow","subject":"1 edit","status":"succeeded","message":null}',
  'data: {"event":"text","text":"The greeting now has the name of the city."}',
  'data: {"event":"cost","model":"gpt-5-mini","tokens":{"prompt":3120,"completion":142,"total":3262},"usd":0.001064}',
  'data: {"event":"proposal","changes":[{"path":["blocks","greet","params","code"],"before":"return 1","after":"return 2"}],"findings":[]}',
  'data: [DONE]',
]

/** The route of the assistant in the OpenAPI document. The route checks and responds without schemas. */
export const assistantDetail = {
  ...operation({
    name: 'askAssistant',
    summary: 'Ask the assistant',
    description:
      'Sends the conversation and the draft to the language model that the operator chose, and streams its reply. ' +
      'The event `text` is a piece of the reply, `tool` says what the assistant reads or edits, `cost` is the cost of ' +
      'the reply so far (`usd` is null when the price of the model is unknown), and `failed` says why it ended early. ' +
      'The event `proposal` lists the changes that the assistant proposes: nothing is saved. The response is 409 when ' +
      'the operator has not turned the assistant on. Only for editors.',
    tag: 'Workflows',
    errors: [
      ...(['INVALID_JSON', 'INVALID_INPUT', 'PAYLOAD_TOO_LARGE', 'FORBIDDEN', 'NOT_FOUND', 'CONFLICT'] as const),
      ...(['USAGE_LIMIT_EXCEEDED', 'RATE_LIMIT_EXCEEDED', 'OVERLOADED'] as const),
    ],
  }),
  requestBody: { content: jsonContent(AssistantRequest) },
  responses: { 200: { description: 'The start of the stream.', content: eventContent(events) } },
}
