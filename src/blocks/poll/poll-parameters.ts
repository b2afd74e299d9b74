import { type TProperties, type TSchema, Type as t } from '@sinclair/typebox'
import { oneOf } from '../../domain/one-of.ts'
import { firstPolls } from '../../domain/poll/answer.ts'
import type { PollKind } from '../../domain/poll/poll.ts'
import type { ScheduleRule } from '../../domain/schedule/schedule.ts'
import type { ParameterFinding, Registration } from '../../engine/block.ts'
import { cronProblem, timezoneProblem } from '../../language/timetable.ts'
import { Parameters as ApiParameters } from '../api/parameters.ts'

/** The items of one list that a poll looks at, at most. */
export const pollItemsMax = 1_000

export const First = oneOf(firstPolls, {
  title: 'First poll',
  description: 'How to treat the items that the list has at the first poll.',
  default: 'skip',
  labels: { skip: 'Remember them, and start nothing', all: 'Start a run for each', latest: 'Start one for the newest' },
})

export function everyMs(defaultText: string) {
  return t.Optional(
    t.Integer({
      title: 'Every (ms)',
      description: `Milliseconds between two polls. ${defaultText}`,
      minimum: 1_000,
      maximum: 31_622_400_000,
    }),
  )
}

const { batch: _batch, onError: _onError, file: _file, ...requestMembers } = ApiParameters.properties
const { url, ...optionalMembers } = requestMembers

/** The parameters of an API block that sends one request, or one for each page. All but the URL may be absent. */
export const PollRequest = t.Object(
  { url, ...(optional(optionalMembers) as { [Name in keyof typeof optionalMembers]: TSchema }) },
  { title: 'Request', description: 'As in an API block.' },
)

function optional(members: TProperties): TProperties {
  return Object.fromEntries(Object.entries(members).map(([name, schema]) => [name, t.Optional(schema)]))
}

type Rhythm = { cron?: string; everyMs?: number; timezone?: string }

/** The registration of a trigger. `identity`: the parameters that say which list or feed it is. */
export function pollRegistration(
  kind: PollKind,
  { cron, everyMs, timezone }: Rhythm,
  defaultMs: number,
  identity: readonly unknown[],
): Registration {
  const digest = new Bun.CryptoHasher('sha256').update(JSON.stringify(identity)).digest('hex')
  const intervalMs = everyMs ?? defaultMs
  // Polls with the same interval are spread over it by what they look at.
  const startAt = cron === undefined ? Number.parseInt(digest.slice(0, 12), 16) % intervalMs : null
  const rule: ScheduleRule = {
    ...{ cron: cron ?? null, intervalMs: cron === undefined ? intervalMs : null, timezone: timezone ?? 'UTC' },
    ...{ startAt, endAt: null, overlap: 'allow', missed: 'once', missedMax: 1, jitterMs: 0 },
  }
  return { poll: { kind, identity: digest, rule } }
}

export function checkRhythm({ cron, everyMs, timezone }: Readonly<Record<string, unknown>>): ParameterFinding[] {
  if (typeof cron === 'string' && everyMs !== undefined) {
    return [scheduleError('cron', 'A poll needs either Cron or Every (ms), and not both.')]
  }
  const cronFault = typeof cron === 'string' ? cronProblem(cron) : undefined
  const zoneFault = typeof timezone === 'string' ? timezoneProblem(timezone) : undefined
  return [
    ...(cronFault === undefined ? [] : [scheduleError('cron', cronFault)]),
    ...(zoneFault === undefined ? [] : [scheduleError('timezone', zoneFault)]),
  ]
}

function scheduleError(path: string, message: string): ParameterFinding {
  return { level: 'error', code: 'INVALID_SCHEDULE', path, message }
}
