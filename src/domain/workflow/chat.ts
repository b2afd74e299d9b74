import { type Static, Type as t } from '@sinclair/typebox'
import { oneOf } from '../one-of.ts'
import { isObject } from '../run/input.ts'
import type { WorkflowDocument } from './workflow.ts'

/** Who may use a chat: callers with a key for its workspace, callers with its password, or everyone. */
export const chatAccesses = ['key', 'password', 'public'] as const

export const ChatParameters = t.Object({
  identifier: t.Optional(
    t.String({
      pattern: '^[A-Za-z0-9_-][A-Za-z0-9._~-]{0,99}$',
      expected: 'letters, digits, "-", "_", "." and "~", 100 at most and no "." or "~" in front',
      title: 'Identifier',
      description: 'The last part of the address. It is unique in the installation. Leave it empty for a random one.',
    }),
  ),
  access: oneOf(chatAccesses, {
    title: 'Access',
    description: 'Who may use the chat: callers with an API key, callers with the password, or everyone.',
    default: 'key',
    labels: { key: 'API key', password: 'Password', public: 'Everyone' },
  }),
  password: t.Optional(
    t.String({
      maxLength: 1_000,
      secret: true,
      title: 'Password',
      description: 'We recommend an environment variable: {{CHAT_PASSWORD}}.',
    }),
  ),
  title: t.Optional(t.String({ maxLength: 200, title: 'Title', description: 'The heading of the chat page.' })),
  greeting: t.Optional(
    t.String({
      maxLength: 2_000,
      title: 'Greeting',
      description: 'The first message that visitors see.',
    }),
  ),
  historyMax: t.Integer({
    default: 20,
    minimum: 0,
    maximum: 1_000,
    title: 'History',
    description: 'How many of the latest messages of a conversation the workflow receives.',
  }),
})
export type ChatParameters = Static<typeof ChatParameters>

/** The maximum length of one message in characters. */
export const chatMessageCharsMax = 100_000

/** The reply of a run as text: an agent's content, a function's result, a string unchanged, anything else as JSON. */
export function replyOf(output: unknown): string {
  if (output === null || output === undefined) return ''
  if (typeof output === 'string') return output
  if (isObject(output)) {
    const { content, result } = output
    if (typeof content === 'string') return content
    if (typeof result === 'string') return result
    if (isObject(content) || Array.isArray(content)) return JSON.stringify(content)
  }
  return JSON.stringify(output) ?? ''
}

/** The reply of a run that ended without its caller. `output`: as jobs return it. */
export function endedReply({ blocks }: Pick<WorkflowDocument, 'blocks'>, output: unknown): string {
  const responds = Object.values(blocks).some(({ type }) => type === 'response')
  const isResponse = responds && isObject(output) && 'data' in output && typeof output['status'] === 'number'
  return replyOf(isResponse ? output['data'] : output)
}
