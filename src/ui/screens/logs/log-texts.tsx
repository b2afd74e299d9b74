import { CalendarClock, Globe, Hand, MessageCircle, Webhook } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Trigger } from './log-filter.ts'

/** Labels of what started a run. */
export const triggerLabels: Readonly<Record<Trigger, string>> = {
  api: 'API',
  webhook: 'Webhook',
  schedule: 'Schedule',
  chat: 'Chat',
  manual: 'Manual',
}

export const triggerIcons: Readonly<Record<Trigger, ReactNode>> = {
  api: <Globe size={14} aria-hidden="true" />,
  webhook: <Webhook size={14} aria-hidden="true" />,
  schedule: <CalendarClock size={14} aria-hidden="true" />,
  chat: <MessageCircle size={14} aria-hidden="true" />,
  manual: <Hand size={14} aria-hidden="true" />,
}
