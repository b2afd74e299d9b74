import { createContext } from 'react'
import type { SavedWorkflow } from '../../http/responses/workflow-schemas.ts'

/** The URLs and schedule of a workflow's triggers. */
export type TriggerDetails = Pick<SavedWorkflow, 'schedule' | 'webhookUrl' | 'chatUrl' | 'formUrl'>

/** The trigger details of the draft as last saved. */
export const DraftTriggerDetails = createContext<TriggerDetails>({})

export function triggerDetailsOf({ schedule, webhookUrl, chatUrl, formUrl }: TriggerDetails): TriggerDetails {
  return {
    ...(schedule ? { schedule } : {}),
    ...(webhookUrl ? { webhookUrl } : {}),
    ...(chatUrl ? { chatUrl } : {}),
    ...(formUrl ? { formUrl } : {}),
  }
}
