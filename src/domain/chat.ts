import { type Static, Type as t } from '@sinclair/typebox'
import { isObject } from './input.ts'
import { oneOf } from './one-of.ts'

/** Who may talk to a chat: holders of a key for its workspace, whoever knows its password, or everyone. */
export const chatAccesses = ['key', 'password', 'public'] as const
export type ChatAccess = (typeof chatAccesses)[number]

export const ChatParameters = t.Object({
  identifier: t.Optional(
    t.String({
      pattern: '^[A-Za-z0-9_-][A-Za-z0-9._~-]{0,99}$',
      expected: 'letters, digits, "-", "_", "." and "~", 100 at most and no "." or "~" in front',
      title: 'Identifier',
      description: 'The end of the address. Unique in the installation; a random one is given when this is empty.',
    }),
  ),
  access: oneOf(chatAccesses, {
    title: 'Access',
    description: 'Who may talk: holders of a key, whoever knows the password, or everyone.',
    default: 'key',
  }),
  password: t.Optional(
    t.String({ maxLength: 1_000, title: 'Password', description: 'Best an environment variable: {{CHAT_PASSWORD}}.' }),
  ),
  title: t.Optional(t.String({ maxLength: 200, title: 'Title', description: 'What stands above the chat.' })),
  greeting: t.Optional(
    t.String({
      maxLength: 2_000,
      title: 'Greeting',
      description: 'What the chat says before anybody has said anything.',
    }),
  ),
  historyMax: t.Integer({
    default: 20,
    minimum: 0,
    maximum: 1_000,
    title: 'History',
    description: 'Messages of a conversation that are remembered, the latest.',
  }),
})
export type ChatParameters = Static<typeof ChatParameters>

/** One message of a conversation. */
export type ChatMessage = { role: 'user' | 'assistant'; content: string }

/** Characters of one message at most. */
export const chatMessageCharsMax = 100_000

/**
 * What a run has to say, as text for people: of an agent its content, of a function its result, of anything else that is no
 * text its JSON.
 */
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
