import { type ErrorDetail, problemsError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import type { ChatMessage } from '../../domain/run/input.ts'
import { isObject, type TriggerInput } from '../../domain/run/input.ts'
import { chatMessageCharsMax } from '../../domain/workflow/chat.ts'
import type { Plan } from '../../engine/compile/plan.ts'
import { readControl } from './execute-body.ts'
import type { SelectedOutput } from './selected-outputs.ts'

/** A chat message. `files`: the file items as received. */
export type ChatBody = {
  text: string
  files: readonly unknown[]
  conversationId: string
  /** Whether this message starts the conversation. */
  isNew: boolean
  /** The selected outputs of a streamed response; undefined when the response is not streamed. */
  stream: readonly SelectedOutput[] | undefined
}

/**
 * Reads a message. Anonymous visitors see only the chat's reply, never other blocks. They cannot choose a conversation
 * id, only continue a conversation that this service started, because its id gives access to its messages. Throws
 * `INVALID_INPUT` with every error.
 */
export function readChatBody(body: unknown, plan: Plan, isAnonymous: boolean): ChatBody {
  const given = isObject(body) ? body : {}
  const { selectedOutputs, ...others } = given
  const control = readControl(isAnonymous ? others : given, { plan, isAsync: false })
  const problems: ErrorDetail[] = [...control.problems]
  const refuse = (path: string, message: string) => void problems.push({ path, message })
  if (isAnonymous && selectedOutputs !== undefined) {
    refuse(
      'selectedOutputs',
      '"selectedOutputs" is only for chats that require a key. This chat streams its reply only.',
    )
  }
  const { input = '', files = null, conversationId = null } = given
  const items = files === null ? [] : Array.isArray(files) ? files : [files]
  if (typeof input !== 'string') refuse('input', '"input" must be a text: the message.')
  else if (input.length > chatMessageCharsMax) {
    refuse('input', `A message has ${chatMessageCharsMax} characters at most; this one has ${input.length}.`)
  } else if (input.trim() === '' && items.length === 0)
    refuse('input', '"input" is the message, and must not be empty.')
  if (conversationId !== null && (typeof conversationId !== 'string' || !idPattern.test(conversationId))) {
    refuse('conversationId', '"conversationId" must be 1 to 100 letters, digits, "-" and "_".')
  } else if (conversationId !== null && isAnonymous && !ownPattern.test(conversationId)) {
    refuse(
      'conversationId',
      '"conversationId" must come from an earlier response. Omit it to start a new conversation.',
    )
  }
  if (problems.length > 0) {
    throw problemsError('INVALID_INPUT', problems)
  }
  return {
    text: input as string,
    files: items,
    conversationId: (conversationId as string | null) ?? newId(),
    isNew: conversationId === null,
    stream: control.stream,
  }
}

/** The input of the run. */
export function chatInput({ text, files, conversationId }: ChatBody, history: readonly ChatMessage[]): TriggerInput {
  const said = { input: text, conversationId, files }
  return { input: said, fields: { ...said, history }, history }
}

const idPattern = /^[A-Za-z0-9_-]{1,100}$/
/** Ids that `newId` generates. */
const ownPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
