import type { ChatParameters } from '../../domain/workflow/chat.ts'

/** Whether visitors of this chat are anonymous: they must not learn how the workflow is built or who owns it. */
export function isAnonymous({ access }: ChatParameters): boolean {
  return access !== 'key'
}

/** The message that anonymous visitors see instead of the reason for a failure. */
export const sorry = 'The chat could not answer. Try again in a moment.'
