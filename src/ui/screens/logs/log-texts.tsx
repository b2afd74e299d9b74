import { CalendarClock, Globe, Hand, MessageCircle, Webhook } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Status, Trigger } from './log-filter.ts'

/** The words and colours of how a run ended. */
export const statusLabels: Readonly<Record<Status, string>> = {
  success: 'Succeeded',
  error: 'Failed',
  cancelled: 'Cancelled',
}
export const statusMarks: Readonly<Record<Status, string>> = {
  success: 'bg-ok',
  error: 'bg-error',
  cancelled: 'bg-line-strong',
}
export const statusTexts: Readonly<Record<Status, string>> = {
  success: 'text-ok-text',
  error: 'text-error-text',
  cancelled: 'text-muted',
}

/** The version that ran: `v3`, `v3 · New prices`, or `Draft`. */
export function versionText({ version, versionName }: { version: number | null; versionName: string | null }): string {
  if (version === null) return 'Draft'
  return versionName ? `v${version} · ${versionName}` : `v${version}`
}

/** Labels of what started a run. */
export const triggerLabels: Readonly<Record<Trigger, string>> = {
  api: 'API',
  webhook: 'Webhook trigger',
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
