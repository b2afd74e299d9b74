import { Type as t } from '@sinclair/typebox'
import { oneOf } from '../../domain/one-of.ts'
import { chatAccesses } from '../../domain/workflow/chat.ts'
import { SkippedResponse } from '../errors.ts'
import { PausedResponse } from '../responses/pauses/pause-schemas.ts'
import { maybe } from '../responses/schema-parts.ts'
import { eventContent, jsonContent } from './content.ts'
import { operation } from './operation.ts'

/** The response to a message. */
export const ChatResponse = t.Object(
  {
    success: t.Literal(true),
    output: t.Unknown({ description: "The run's output, or the data of its response block." }),
    reply: t.String({ description: 'The output as text.' }),
    conversationId: t.String({ description: 'Send it with the next message to continue the conversation.' }),
    executionId: t.String(),
  },
  { $id: 'ChatResponse' },
)

/** The response to a message whose run has paused. */
const ChatPaused = t.Object(
  { ...PausedResponse.properties, conversationId: ChatResponse.properties.conversationId },
  { $id: 'ChatPaused' },
)

const ChatMessage = t.Object({
  input: t.String({ description: 'The message.' }),
  conversationId: t.Optional(t.String({ description: 'From an earlier response, to continue that conversation.' })),
  files: t.Optional(
    t.Array(t.Unknown(), { description: 'File items, like those of a `files` field of the execute endpoint.' }),
  ),
  stream: t.Optional(t.Boolean({ description: 'Whether the response is a stream of server-sent events.' })),
  selectedOutputs: t.Optional(
    t.Array(t.String(), { description: 'Like on the execute endpoint; allowed only for chats that require a key.' }),
  ),
})

/** The public facts about a chat. */
export const ChatFactsResponse = t.Object(
  {
    access: oneOf(chatAccesses),
    title: maybe(t.String()),
    greeting: maybe(t.String()),
    mayTalk: t.Boolean({
      description: 'Whether this caller may send messages: the chat is public, or the key or session has access.',
    }),
  },
  { $id: 'Chat' },
)

const events = [
  'data: {"blockId":"answer","chunk":"Hello, "}',
  'data: {"blockId":"answer","chunk":"Ada."}',
  'data: {"event":"done","success":true,"output":{"content":"Hello, Ada."},"metadata":{"duration":212},"reply":"Hello, Ada.","conversationId":"0b8a5a3e-4f1c-4d6e-9a57-0c6c1f3f8e11"}',
  'data: [DONE]',
]

/** The chat routes in the OpenAPI document. The routes check and respond without schemas. */
export const chatDetail = {
  ...operation({
    name: 'sendChatMessage',
    summary: 'Send a chat message',
    description:
      'Runs the deployed workflow that has a chat trigger with this identifier, and responds when the log entry of the ' +
      'run is on disk. The trigger sets who may send messages: callers with a key for the workspace (`X-API-Key`) or a ' +
      'session of the dashboard, callers with the password (`X-Chat-Password`, plain or percent-encoded), or anyone.\n\n' +
      "The service remembers the latest messages of a conversation and passes them to the workflow's agents. To continue " +
      'a conversation, send the `conversationId` of the response, which is also in the header `X-Conversation-Id`. With ' +
      '`"stream": true` the response is a stream like that of the execute endpoint; its `done` event also has `reply` ' +
      'and `conversationId`.',
    tag: 'Executions',
    access: 'everyone',
    errors: [
      ...(['INVALID_JSON', 'INVALID_INPUT', 'API_KEY_REQUIRED', 'INVALID_API_KEY', 'SIGN_IN_REQUIRED'] as const),
      'INVALID_CREDENTIALS',
      ...([
        'USAGE_LIMIT_EXCEEDED',
        'FORBIDDEN',
        'NOT_FOUND',
        'RATE_LIMIT_EXCEEDED',
        'OVERLOADED',
        'WORKFLOW_LIMIT',
      ] as const),
      ...(['STORAGE_UNAVAILABLE', 'EXECUTION_FAILED', 'EXECUTION_TIMEOUT'] as const),
    ],
  }),
  requestBody: { content: jsonContent(ChatMessage) },
  responses: {
    200: {
      description: 'The reply, or the start of its stream.',
      content: { ...jsonContent(ChatResponse), ...eventContent(events) },
    },
    202: {
      description:
        'The run has paused (a stream ends with the event `paused`), or the limits of the workflow skip the message.',
      content: jsonContent(t.Union([ChatPaused, SkippedResponse])),
    },
  },
}

export const chatFactsDetail = {
  ...operation({
    name: 'getChat',
    summary: 'Describe a chat',
    description: 'What the chat page shows before the first message.',
    tag: 'Executions',
    access: 'everyone',
    errors: ['NOT_FOUND', 'RATE_LIMIT_EXCEEDED', 'STORAGE_UNAVAILABLE'],
  }),
  responses: { 200: { description: 'The chat.', content: jsonContent(ChatFactsResponse) } },
}

/** The reply of a run that has paused. */
export const LateReplyResponse = t.Object(
  {
    status: oneOf(['queued', 'processing', 'paused', 'completed', 'failed', 'cancelled']),
    reply: maybe(t.String({ description: 'The reply as text if the run has completed.' })),
    error: maybe(t.String({ description: 'The reason if the run has failed.' })),
  },
  { $id: 'LateReply' },
)

export const lateReplyDetail = {
  ...operation({
    name: 'getChatReply',
    summary: 'Get the reply of a chat run that has paused',
    description:
      'For the sender of a message whose response was 202, or whose stream ended with the event `paused`: `executionId` ' +
      'is in that response, and in its header `X-Execution-Id`. The access is the same as for sending a message.',
    tag: 'Executions',
    access: 'everyone',
    errors: [
      ...(['API_KEY_REQUIRED', 'INVALID_API_KEY', 'SIGN_IN_REQUIRED', 'INVALID_CREDENTIALS', 'FORBIDDEN'] as const),
      ...(['NOT_FOUND', 'RATE_LIMIT_EXCEEDED', 'STORAGE_UNAVAILABLE'] as const),
    ],
  }),
  responses: { 200: { description: 'The run.', content: jsonContent(LateReplyResponse) } },
}
