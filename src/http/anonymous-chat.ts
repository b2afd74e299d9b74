import { AppError } from '../domain/errors.ts'
import type { ChatParameters } from '../domain/workflow/chat.ts'
import type { RunEnd } from '../engine/run/runner.ts'

/** Whether whoever talks may know nothing of how the workflow is made, or of whose it is. */
export function isAnonymous({ access }: ChatParameters): boolean {
  return access !== 'key'
}

/** What strangers are told in the place of what went wrong. */
export const sorry = 'The chat could not answer. Try again in a moment.'

/** What went wrong may name services, blocks and values; the log tells those who may know. */
export function withoutDetails(end: RunEnd): RunEnd {
  const { failure } = end.record
  if (!failure) return end
  const told = { ...failure, message: sorry, blockId: null, blockName: null }
  return { ...end, record: { ...end.record, failure: told, output: null } }
}

/** A refusal for the owner's limits, without what these are. */
export function hideLimits(chat: ChatParameters, assert: () => void): void {
  try {
    assert()
  } catch (cause) {
    if (!isAnonymous(chat) || !(cause instanceof AppError)) throw cause
    throw new AppError(cause.code, 'This chat takes no more messages for now.', { cause })
  }
}
