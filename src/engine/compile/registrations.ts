import type { NewPoll } from '../../domain/poll/poll.ts'
import type { NewSchedule, ScheduleRule } from '../../domain/schedule/schedule.ts'
import type { Registrations } from '../../domain/workflow/trigger.ts'
import type { Finding } from '../../domain/workflow/workflow.ts'
import { timetableOf } from '../../language/timetable.ts'
import type { Compilation, Plan } from './plan.ts'
import { unsetVariables } from './unset-variables.ts'

/**
 * The result for the author who saves or deploys a document. `nextTimes`: its next due times; undefined without a
 * schedule.
 */
export type Check = { findings: Finding[]; registrations: Registrations; nextTimes: readonly number[] | undefined }

/**
 * `at`: the due times are after this time. Epoch milliseconds. `variables`: the environment variables with a value.
 * `more`: further findings.
 */
export function checkOf(
  compilation: Compilation,
  at: number,
  variables: ReadonlySet<string>,
  more: readonly Finding[] = [],
): Check {
  const { triggers, environmentUses } = compilation
  const findings = [...compilation.findings, ...unsetVariables(environmentUses, variables), ...more]
  const registrations = registrationsOf(triggers, at)
  const { schedule } = registrations
  if (!schedule) return { findings, registrations, nextTimes: undefined }
  const nextTimes = timesAfter(schedule.rule, at, timesShown)
  const late = nextTimes.length === 0 ? [neverDue(triggers)] : []
  return { findings: [...findings, ...late], registrations, nextTimes }
}

function neverDue(triggers: Plan['triggers']): Finding {
  const node = triggers.get('schedule')?.node
  const [blockId, blockName] = [node?.id ?? null, node?.name ?? null]
  const message = `The schedule of "${blockName}" has ended: it has no due time before its end.`
  return {
    level: 'warning',
    code: 'SCHEDULE_OVER',
    path: `blocks.${blockId}.params.endAt`,
    blockId,
    blockName,
    message,
  }
}

/** The registrations of a version when it becomes active. */
function registrationsOf(triggers: Plan['triggers'], at: number): Registrations {
  const found = Array.from(triggers.values(), ({ registration }) => registration)
  const rule = found.find((registration) => registration.schedule)?.schedule
  const schedule: NewSchedule | null = rule ? { rule, dueAt: timetableOf(rule).next(at) } : null
  const events = found.find((registration) => registration.events)?.events
  const polls = Array.from(triggers.values()).flatMap(({ node, registration: { poll } }): NewPoll[] => {
    if (!poll) return []
    const dueAt = poll.rule && timetableOf(poll.rule).next(at)
    // The first poll is due at once, because it remembers what is there already.
    return [{ ...poll, blockId: node.id, dueAt, firstAt: poll.rule && at }]
  })
  const more = { ...(events && { events }), ...(polls.length > 0 && { polls }) }
  return { addresses: found.flatMap(({ address }) => address ?? []), schedule, ...more }
}

function timesAfter(rule: ScheduleRule, at: number, count: number): number[] {
  const { next } = timetableOf(rule)
  const times: number[] = []
  for (let time = next(at); time !== null && times.length < count; time = next(time)) times.push(time)
  return times
}

const timesShown = 5
