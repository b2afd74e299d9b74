import { AppError, type ErrorDetail } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import { isObject, type TriggerInput } from '../domain/run/input.ts'
import { type ChatMessage, chatMessageCharsMax } from '../domain/workflow/chat.ts'
import type { Plan } from '../engine/compile/plan.ts'
import { readControl } from './execute-body.ts'
import type { SelectedOutput } from './selected-outputs.ts'

/** What somebody says to a chat. `files`: the items as they came. */
export type ChatBody = {
  text: string
  files: readonly unknown[]
  conversationId: string
  /** Whether nobody has said anything in it yet. */
  isNew: boolean
  /** What is selected, for a response that is streamed; undefined for one that is not. */
  stream: readonly SelectedOutput[] | undefined
}

/**
 * Reads a message. `isAnonymous`: whoever is may see no block of the workflow but what it responds with, and cannot name
 * conversations, but only go on with one that began here, because whoever knows its id can ask what was said in it.
 * Throws `INVALID_INPUT` with all that is wrong.
 */
export function readChatBody(body: unknown, plan: Plan, isAnonymous: boolean): ChatBody {
  const given = isObject(body) ? body : {}
  const { selectedOutputs, ...others } = given
  const control = readControl(isAnonymous ? others : given, { plan, isAsync: false })
  const problems: ErrorDetail[] = [...control.problems]
  const refuse = (path: string, message: string) => void problems.push({ path, message })
  if (isAnonymous && selectedOutputs !== undefined) {
    refuse('selectedOutputs', '"selectedOutputs" is for chats that take a key: this one streams its response only.')
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
    refuse('conversationId', '"conversationId" must be one that an earlier response gave. Leave it out to begin anew.')
  }
  if (problems.length > 0) {
    throw new AppError('INVALID_INPUT', problems.map(({ message }) => message).join(' '), { details: problems })
  }
  return {
    text: input as string,
    files: items,
    conversationId: (conversationId as string | null) ?? newId(),
    isNew: conversationId === null,
    stream: control.stream,
  }
}

/** What the trigger hands to the run. */
export function chatInput({ text, files, conversationId }: ChatBody, history: readonly ChatMessage[]): TriggerInput {
  const said = { input: text, conversationId, files }
  return { input: said, fields: { ...said, history }, history }
}

const idPattern = /^[A-Za-z0-9_-]{1,100}$/
/** As `newId` makes them. */
const ownPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
