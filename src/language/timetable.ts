import { Cron } from 'croner'
import type { ScheduleRule } from '../domain/schedule.ts'

/** When a schedule is due: pure, so that whoever computes it gets the same. Times are epoch milliseconds. */
export type Timetable = {
  /** The first time after `at`; null when there is none. */
  next(at: number): number | null
  /** The last `count` times before `at`, the earliest first. */
  last(count: number, at: number): number[]
}

export type TimetableRule = Pick<ScheduleRule, 'cron' | 'intervalMs' | 'timezone' | 'startAt' | 'endAt'>

/** Throws what `cronProblem` and `timezoneProblem` would have said. */
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
 * Knows its last answers. Those to `last` hold until another time passes: to find a thousand times takes a quarter of a
 * second, and who runs a thousand that were missed asks before each.
 */
export function remembering({ next, last }: Timetable): Timetable {
  let asked = Number.NaN
  let answer: number | null = null
  let past = { count: Number.NaN, times: [] as number[], from: 0, until: 0 }
  return {
    next(at) {
      if (at !== asked) {
        answer = next(at)
        asked = at
      }
      return answer
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

/** What is wrong with a cron expression, for people; undefined when it can be used. */
export function cronProblem(expression: string): string | undefined {
  const fields = expression.trim().split(/\s+/).filter(Boolean).length
  // A name such as @daily stands for five.
  if (fields !== 5 && fields !== 6 && !/^@\w+$/.test(expression.trim())) {
    const order = 'minute, hour, day, month, weekday, and perhaps seconds in front'
    return `The cron expression "${expression}" cannot be read: it has ${fields} fields, and needs five or six: ${order}.`
  }
  try {
    if (cron(expression, 'UTC').next(0) !== null) return undefined
    return `The cron expression "${expression}" names no day that ever comes.`
  } catch (error) {
    const reason = (error as Error).message.replace(/^CronPattern: /, '').replace(/\.$/, '')
    return `The cron expression "${expression}" cannot be read: ${reason}.`
  }
}

/** What is wrong with the name of a time zone; undefined when it is one. */
export function timezoneProblem(timezone: string): string | undefined {
  try {
    // A made-up date, for its complaint.
    new Intl.DateTimeFormat('en', { timeZone: timezone }).format(0)
    return undefined
  } catch {
    return `There is no time zone "${timezone}". Names are as in "Europe/Lisbon" or "UTC".`
  }
}

/**
 * In five fields or six, seconds in front. At the changes of daylight-saving time: times of day without a wildcard or step
 * come once on every day, also when the clocks leave them out (then at the first moment after) or go through them twice;
 * others follow the clock, as "every ten minutes" would.
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
  /** The number of the last time before `at`. */
  const indexBefore = (at: number) => Math.ceil((at - from) / everyMs) - 1
  return {
    next: (at) => from + (Math.floor((at - from) / everyMs) + 1) * everyMs,
    last(count, at) {
      const end = indexBefore(at)
      return Array.from({ length: count }, (_, index) => from + (end - count + 1 + index) * everyMs)
    },
  }
}
