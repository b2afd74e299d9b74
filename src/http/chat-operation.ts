import { Type as t } from '@sinclair/typebox'
import { oneOf } from '../domain/one-of.ts'
import { chatAccesses } from '../domain/workflow/chat.ts'
import { operation } from './operation.ts'
import { maybe } from './responses.ts'

/** The response to a message. */
export const ChatResponse = t.Object(
  {
    success: t.Literal(true),
    output: t.Unknown({ description: 'The output of the run; of a response block its data.' }),
    reply: t.String({ description: 'The same as text for people.' }),
    conversationId: t.String({ description: 'To be sent with the next message.' }),
    executionId: t.String(),
  },
  { $id: 'ChatResponse' },
)

const ChatMessage = t.Object({
  input: t.String({ description: 'The message.' }),
  conversationId: t.Optional(t.String({ description: 'Of an earlier response, to go on with that conversation.' })),
  files: t.Optional(
    t.Array(t.Unknown(), { description: 'File items as for a field of the type `files` of the execute endpoint.' }),
  ),
  stream: t.Optional(t.Boolean({ description: 'True: the response is a stream of server-sent events.' })),
  selectedOutputs: t.Optional(
    t.Array(t.String(), { description: 'As for the execute endpoint, where the chat takes a key; others refuse it.' }),
  ),
})

/** What there is to know before anybody may talk. */
export const ChatFactsResponse = t.Object(
  {
    access: oneOf(chatAccesses),
    title: maybe(t.String()),
    greeting: maybe(t.String()),
    mayTalk: t.Boolean({
      description: 'Whether this caller may: everybody may, or the key or session is the right one.',
    }),
  },
  { $id: 'Chat' },
)

const stream = [
  'data: {"blockId":"answer","chunk":"Hello, "}',
  'data: {"blockId":"answer","chunk":"Ada."}',
  'data: {"event":"done","success":true,"output":{"content":"Hello, Ada."},"metadata":{"duration":212},"reply":"Hello, Ada.","conversationId":"0b8a5a3e-4f1c-4d6e-9a57-0c6c1f3f8e11"}',
  'data: [DONE]',
]
const events = {
  'text/event-stream': {
    schema: { type: 'string' } as unknown as Record<string, never>,
    example: `${stream.join('\n\n')}\n\n`,
  },
}

/** The chats' part of the OpenAPI document; the routes check and response without schemas. */
export const chatDetail = {
  ...operation({
    name: 'sendChatMessage',
    summary: 'Say something to a chat',
    description:
      'Runs the workflow with a chat trigger of this identifier that is deployed, and responses when the log entry of the ' +
      'run is on disk. Who may talk is a parameter of the trigger: holders of a key for the workspace (`X-API-Key`; people ' +
      'who are signed in to the dashboard need none), whoever knows the password (`X-Chat-Password`, as it is or percent-encoded), or everyone.\n\n' +
      'The latest messages of a conversation are remembered, and agents in the workflow are told them. The response, and ' +
      'the header `X-Conversation-Id`, say how to go on with it. With `"stream": true` the response is a stream like that ' +
      'of the execute endpoint; `done` has `reply` and `conversationId`, too.',
    tag: 'Executions',
    access: 'everyone',
    errors: [
      ...(['INVALID_JSON', 'INVALID_INPUT', 'API_KEY_REQUIRED', 'INVALID_API_KEY', 'SIGN_IN_REQUIRED'] as const),
      'INVALID_CREDENTIALS',
      ...(['USAGE_LIMIT_EXCEEDED', 'FORBIDDEN', 'NOT_FOUND', 'RATE_LIMIT_EXCEEDED', 'OVERLOADED'] as const),
      ...(['STORAGE_UNAVAILABLE', 'EXECUTION_FAILED', 'EXECUTION_TIMEOUT'] as const),
    ],
  }),
  requestBody: { content: json(ChatMessage) },
  responses: {
    200: {
      description: 'The response, or the beginning of its stream.',
      content: { ...json(ChatResponse), ...events },
    },
  },
}

export const chatFactsDetail = {
  ...operation({
    name: 'getChat',
    summary: 'Get what there is to know of a chat',
    description: 'What its page shows before anybody has said anything.',
    tag: 'Executions',
    access: 'everyone',
    errors: ['NOT_FOUND', 'RATE_LIMIT_EXCEEDED', 'STORAGE_UNAVAILABLE'],
  }),
  responses: { 200: { description: 'The chat.', content: json(ChatFactsResponse) } },
}

/** The plugin's types know schemas of OpenAPI 3.0 only; TypeBox's are JSON schemas, as 3.1 has them. */
function json(schema: object): { 'application/json': { schema: Record<string, never> } } {
  return { 'application/json': { schema: schema as Record<string, never> } }
}
