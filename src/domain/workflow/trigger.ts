import type { EventRegistration } from '../alert/alert.ts'
import type { NewPoll } from '../poll/poll.ts'
import type { NewSchedule } from '../schedule/schedule.ts'

/**
 * Another way to reach a deployment than the workflow's ID: a name that is unique among its kind in the installation.
 */
export const addressKinds = ['webhook', 'chat', 'form'] as const
export type AddressKind = (typeof addressKinds)[number]
export type Address = { kind: AddressKind; name: string }

/**
 * The addresses, the schedule, the polls and the event trigger of an active deployment. Created, replaced and removed
 * together with it.
 */
export type Registrations = {
  addresses: readonly Address[]
  schedule: NewSchedule | null
  polls?: readonly NewPoll[]
  events?: EventRegistration
}

export const noRegistrations: Registrations = { addresses: [], schedule: null }
