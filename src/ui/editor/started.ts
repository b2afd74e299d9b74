import { createContext } from 'react'
import type { SavedWorkflow } from '../../http/responses.ts'

/** How others than callers start a workflow: the addresses that its triggers have, and when it is due. */
export type Started = Pick<SavedWorkflow, 'schedule' | 'webhookUrl' | 'chatUrl'>

/** That of the draft as it was saved last. */
export const DraftStarted = createContext<Started>({})

export function startedOf({ schedule, webhookUrl, chatUrl }: Started): Started {
  return {
    ...(schedule ? { schedule } : {}),
    ...(webhookUrl ? { webhookUrl } : {}),
    ...(chatUrl ? { chatUrl } : {}),
  }
}
