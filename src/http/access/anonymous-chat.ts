import { AppError } from '../../domain/errors.ts'
import type { ChatParameters } from '../../domain/workflow/chat.ts'
import type { RunEnd } from '../../engine/run/run-end.ts'

/** Whether visitors of this chat are anonymous: they must not learn how the workflow is built or who owns it. */
export function isAnonymous({ access }: ChatParameters): boolean {
  return access !== 'key'
}

/** The message that anonymous visitors see instead of the reason for a failure. */
export const sorry = 'The chat could not answer. Try again in a moment.'

/** Removes the details of a failure, which may name services, blocks and values. The log keeps them. */
export function withoutDetails(end: RunEnd): RunEnd {
  const { failure } = end.record
  if (!failure) return end
  const hidden = { ...failure, message: sorry, blockId: null, blockName: null }
  return { ...end, record: { ...end.record, failure: hidden, output: null } }
}

/** Refuses because of the owner's limits, but hides from anonymous visitors what the limits are. */
export async function hideLimits(chat: ChatParameters, assert: () => void | Promise<void>): Promise<void> {
  try {
    await assert()
  } catch (cause) {
    if (!isAnonymous(chat) || !(cause instanceof AppError)) throw cause
    throw new AppError(cause.code, 'This chat accepts no more messages for now.', { cause })
  }
}
