import { createContext } from 'react'
import type { SavedWorkflow } from '../../http/answers.ts'

/** How others than callers start a workflow: the addresses that its triggers have, and when it is due. */
export type TriggerDetails = Pick<SavedWorkflow, 'schedule' | 'webhookUrl' | 'chatUrl'>

/** That of the draft as it was saved last. */
export const DraftTriggerDetails = createContext<TriggerDetails>({})

export function triggerDetailsOf({ schedule, webhookUrl, chatUrl }: TriggerDetails): TriggerDetails {
  return {
    ...(schedule ? { schedule } : {}),
    ...(webhookUrl ? { webhookUrl } : {}),
    ...(chatUrl ? { chatUrl } : {}),
  }
}
