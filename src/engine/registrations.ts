import { noRegistrations, type Registrations } from '../domain/trigger.ts'
import type { Finding } from '../domain/workflow.ts'
import type { Compilation, Plan } from './plan.ts'

/** What whoever saves or deploys a document hears of it. */
export function checkOf({ plan, findings }: Compilation): { findings: Finding[]; registrations: Registrations } {
  return { findings, registrations: plan ? registrationsOf(plan) : noRegistrations }
}

/** What a version registers when it becomes active. */
function registrationsOf({ triggers }: Plan): Registrations {
  const found = Array.from(triggers.values(), ({ registration }) => registration)
  return { addresses: found.flatMap(({ address }) => address ?? []), schedule: null }
}
