import type { NewSchedule, ScheduleRule } from '../domain/schedule.ts'
import { noRegistrations, type Registrations } from '../domain/trigger.ts'
import type { Finding } from '../domain/workflow.ts'
import { timetableOf } from '../language/timetable.ts'
import type { Compilation, Plan } from './plan.ts'

/** What whoever saves or deploys a document hears of it. `nextTimes`: when it is due; undefined without a schedule. */
export type Check = { findings: Finding[]; registrations: Registrations; nextTimes: readonly number[] | undefined }

/** `at`: from when on it is due. */
export function checkOf({ plan, findings }: Compilation, at: number): Check {
  if (!plan) return { findings, registrations: noRegistrations, nextTimes: undefined }
  const registrations = registrationsOf(plan, at)
  const { schedule } = registrations
  return { findings, registrations, nextTimes: schedule ? timesAfter(schedule.rule, at, timesShown) : undefined }
}

/** What a version registers when it becomes active. */
function registrationsOf({ triggers }: Plan, at: number): Registrations {
  const found = Array.from(triggers.values(), ({ registration }) => registration)
  const rule = found.find((registration) => registration.schedule)?.schedule
  const schedule: NewSchedule | null = rule ? { rule, dueAt: timetableOf(rule).next(at) } : null
  return { addresses: found.flatMap(({ address }) => address ?? []), schedule }
}

function timesAfter(rule: ScheduleRule, at: number, count: number): number[] {
  const { next } = timetableOf(rule)
  const times: number[] = []
  for (let time = next(at); time !== null && times.length < count; time = next(time)) times.push(time)
  return times
}

const timesShown = 5
