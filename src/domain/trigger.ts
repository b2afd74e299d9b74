import type { NewSchedule } from './schedule.ts'

/** What leads callers to a deployment beside the id of its workflow: a name, unique among its kind in the installation. */
export const addressKinds = ['webhook', 'chat'] as const
export type AddressKind = (typeof addressKinds)[number]
export type Address = { kind: AddressKind; name: string }

/** What of a deployment is known outside of it while it is active: made, replaced and taken away together with it. */
export type Registrations = { addresses: readonly Address[]; schedule: NewSchedule | null }

export const noRegistrations: Registrations = { addresses: [], schedule: null }
