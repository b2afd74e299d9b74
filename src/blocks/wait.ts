import { Type as t } from '@sinclair/typebox'
import { BlockError, defineBlock, type ParameterFinding } from '../engine/block.ts'
import { timezoneProblem } from '../language/timetable.ts'
import { durationMs, timeOf, waitMsMax } from '../language/wait-time.ts'

export const wait = defineBlock({
  type: 'wait',
  label: 'Wait',
  description: 'Pauses the run for a time, or until a time.',
  kind: 'step',
  parameters: t.Object({
    for: t.Optional(t.String({ title: 'For', description: 'A duration, such as 90 minutes or 3 days.' })),
    until: t.Optional(
      t.String({ title: 'Until', description: 'A time, such as 2027-01-31T09:00. Replaces the duration.' }),
    ),
    timezone: t.Optional(
      t.String({
        title: 'Time zone',
        description: 'Of a time without an offset, such as Europe/Lisbon.',
        default: 'UTC',
      }),
    ),
    ms: t.Optional(t.Number({ title: 'Milliseconds', minimum: 0 })),
  }),
  outputs: ['waitedMs'],
  mayFail: true,
  check: (_, __, written) => problemsOf(written),
  mayPause({ ms, for: duration, until }, { pauseInMemoryMs, runTimeoutMs }) {
    if (isGiven(until)) return true
    const waited = isGiven(duration) ? durationMs(duration) : ms
    return typeof waited !== 'number' || waited > Math.min(pauseInMemoryMs, runTimeoutMs)
  },
  async run(params, context) {
    const [problem] = problemsOf(params)
    if (problem) throw new BlockError('INVALID_WAIT', problem.message)
    const { clock } = context
    const now = clock.now()
    const from = clock.monotonic()
    const until = endOf(params, now)
    if (until - now > waitMsMax) throw new BlockError('INVALID_WAIT', tooLong)
    const since = await context.waitUntil(until)
    // A run that was out of memory has another monotonic clock.
    const isSame = since >= now
    return { outputs: { waitedMs: Math.max(0, Math.round(isSame ? clock.monotonic() - from : clock.now() - since)) } }
  },
})

type Written = { ms?: unknown; for?: unknown; until?: unknown; timezone?: unknown }

/** Epoch milliseconds. The parameters have no problems. */
function endOf({ ms, for: duration, until, timezone }: Written, now: number): number {
  if (isGiven(until)) return timeOf(until, isGiven(timezone) ? timezone : 'UTC') ?? now
  return now + (isGiven(duration) ? (durationMs(duration) ?? 0) : Number(ms))
}

/** A parameter with references is checked when the block runs. */
function problemsOf(written: Written): ParameterFinding[] {
  const { ms, for: duration, until, timezone } = written
  const problem = (path: string, message: string): ParameterFinding[] => [
    { level: 'error', code: 'INVALID_WAIT', path, message },
  ]
  if (Object.values(written).some((value) => typeof value === 'string' && /<[^>]+>|\{\{/.test(value))) return []
  if (isGiven(until)) {
    const zone = isGiven(timezone) ? timezoneProblem(timezone) : undefined
    if (zone) return problem('timezone', zone)
    if (timeOf(until, 'UTC') !== undefined) return []
    return problem('until', `"${until.slice(0, 100)}" is no time. Use 2027-01-31T09:00, or 2027-01-31T09:00:00Z.`)
  }
  if (isGiven(duration)) {
    const given = durationMs(duration)
    if (given === undefined) {
      return problem('for', `"${duration.slice(0, 100)}" is no duration. Use 90 minutes, 3 days or 1 hour 30 minutes.`)
    }
    return given > waitMsMax ? problem('for', tooLong) : []
  }
  if (ms === undefined || ms === null || ms === '')
    return problem('for', 'Set how long the block waits, or until when.')
  return typeof ms === 'number' && ms > waitMsMax ? problem('ms', tooLong) : []
}

const tooLong = 'A wait takes at most 400 days.'

function isGiven(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== ''
}
