import type { Role } from '../domain/account/role.ts'
import type { JobState } from '../domain/run/job.ts'
import type { Level } from '../domain/run/log.ts'
import type { DeliveryState } from '../domain/webhook/delivery.ts'
import type { StartKind, TriggerKind, WorkflowDocument } from '../domain/workflow/workflow.ts'

// Values that every store writes in the same way.

/** The role in each workspace. */
export const rolesOf = (text: string) => JSON.parse(text) as Record<string, Role>

/** Omits the ID, which has its own column, and the webhooks, which have their own table. */
export function documentText(document: WorkflowDocument): string {
  const { id: _, webhooks: _webhooks, ...rest } = document
  return JSON.stringify(rest)
}

export function documentOf(id: string, text: string): WorkflowDocument {
  return { id, ...(JSON.parse(text) as WorkflowDocument) }
}

// A store keeps the index of a level, trigger, status or state: only ever append.
export const levels: readonly Level[] = ['info', 'error']
export const triggers: readonly TriggerKind[] = ['api', 'webhook', 'schedule', 'manual', 'chat']
export const jobTriggers: readonly StartKind[] = [...triggers, 'form', 'poll', 'rss', 'event', 'email']
export const jobStates: readonly JobState[] = ['queued', 'running', 'interrupted', 'paused']

/** The numbers of a delivery's states: never change them. */
export const stateNumbers = { pending: 0, delivered: 1, failed: 2, cancelled: 3 } as const satisfies Record<
  DeliveryState,
  number
>
