import { Cron } from 'croner'
import type { ScheduleRule } from '../domain/schedule/schedule.ts'

/** The due times of a schedule, in epoch milliseconds. Pure. */
export type Timetable = {
  /** The first time after `at`; null when there is none. */
  next(at: number): number | null
  /** The last `count` times before `at`, in ascending order. */
  last(count: number, at: number): number[]
}

export type TimetableRule = Pick<ScheduleRule, 'cron' | 'intervalMs' | 'timezone' | 'startAt' | 'endAt'>

/** Throws for rules that `cronProblem` or `timezoneProblem` would refuse. */
export function timetableOf(rule: TimetableRule): Timetable {
  const { startAt, endAt } = rule
  const { next, last } =
    rule.cron === null ? interval(rule.intervalMs ?? 0, startAt ?? 0) : cron(rule.cron, rule.timezone)
  return {
    next(at) {
      const found = next(startAt === null ? at : Math.max(at, startAt - 1))
      return found === null || (endAt !== null && found > endAt) ? null : found
    },
    last(count, at) {
      if (count === 0) return []
      return last(count, endAt === null ? at : Math.min(at, endAt + 1)).filter((time) => time >= (startAt ?? time))
    },
  }
}

/**
 * Caches the last results. Finding a thousand times takes a quarter of a second, and a caller that runs a thousand
 * missed times calls `last` before each of them. A result of `last` stays valid until the next due time.
 */
export function cachedTimetable({ next, last }: Timetable): Timetable {
  let asked = Number.NaN
  let nextTime: number | null = null
  let past = { count: Number.NaN, times: [] as number[], from: 0, until: 0 }
  return {
    next(at) {
      if (at !== asked) {
        nextTime = next(at)
        asked = at
      }
      return nextTime
    },
    last(count, at) {
      if (count !== past.count || at < past.from || at > past.until) {
        const times = last(count, at)
        const latest = times.at(-1)
        const from = latest === undefined ? at : latest + 1
        past = { count, times, from, until: next(at - 1) ?? Number.POSITIVE_INFINITY }
      }
      return past.times
    },
  }
}

/** An error message for an invalid cron expression; undefined for a valid one. */
export function cronProblem(expression: string): string | undefined {
  const fields = expression.trim().split(/\s+/).filter(Boolean).length
  // A name such as @daily replaces all fields.
  if (fields !== 5 && fields !== 6 && !/^@\w+$/.test(expression.trim())) {
    const order = 'minute, hour, day, month, weekday, optionally with seconds in front'
    return `The cron expression "${expression}" cannot be read: it has ${fields} fields, but needs five or six: ${order}.`
  }
  try {
    if (cron(expression, 'UTC').next(0) !== null) return undefined
    return `The cron expression "${expression}" never matches a date.`
  } catch (error) {
    const reason = (error as Error).message.replace(/^CronPattern: /, '').replace(/\.$/, '')
    return `The cron expression "${expression}" cannot be read: ${reason}.`
  }
}

/** An error message for an unknown time zone; undefined for a known one. */
export function timezoneProblem(timezone: string): string | undefined {
  try {
    // Throws for an unknown zone.
    new Intl.DateTimeFormat('en', { timeZone: timezone }).format(0)
    return undefined
  } catch {
    return `There is no time zone "${timezone}". Use a name such as "Europe/Lisbon" or "UTC".`
  }
}

/**
 * Five fields, or six with seconds in front. At the changes of daylight-saving time, times without a wildcard or step
 * in them are due exactly once on each day: if the clocks skip the time, at the first moment after it; if the clocks
 * repeat it, only once. Other times follow the clock, such as "every ten minutes".
 */
function cron(expression: string, timezone: string): Timetable {
  const pattern = new Cron(expression, {
    timezone,
    paused: true,
    mode: '5-or-6-parts',
    fixedTimeRule: 'no-wildcard',
  })
  return {
    next: (at) => pattern.nextRun(new Date(at))?.getTime() ?? null,
    last: (count, at) =>
      pattern
        .previousRuns(count, new Date(at))
        .map((date) => date.getTime())
        .reverse(),
  }
}

function interval(everyMs: number, from: number): Timetable {
  /** The index of the last time before `at`. */
  const indexBefore = (at: number) => Math.ceil((at - from) / everyMs) - 1
  return {
    next: (at) => from + (Math.floor((at - from) / everyMs) + 1) * everyMs,
    last(count, at) {
      const end = indexBefore(at)
      return Array.from({ length: count }, (_, index) => from + (end - count + 1 + index) * everyMs)
    },
  }
}
