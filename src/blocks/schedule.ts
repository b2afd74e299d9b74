import { Type as t } from '@sinclair/typebox'
import { oneOf } from '../domain/one-of.ts'
import { missedPolicies, overlaps, type ScheduleRule } from '../domain/schedule/schedule.ts'
import { readTime } from '../domain/text/iso-time.ts'
import { defineBlock, type ParameterFinding } from '../engine/block.ts'
import { cronProblem, timezoneProblem } from '../language/timetable.ts'
import { checkLabels, Labels, labelWith } from './labels.ts'

const Parameters = t.Object({
  cron: t.Optional(
    t.String({ title: 'Cron', description: 'Minute, hour, day, month, weekday; optionally with seconds in front.' }),
  ),
  intervalMs: t.Optional(
    t.Integer({
      title: 'Interval (ms)',
      description: 'Instead of Cron. Counted from Start, or else from 1970.',
      minimum: 1_000,
      maximum: 31_622_400_000,
    }),
  ),
  timezone: t.String({ title: 'Time zone', description: 'Such as Europe/Lisbon.', default: 'UTC' }),
  startAt: t.Optional(
    t.String({ title: 'Start', description: 'No run is due before this time. Without a zone: UTC.' }),
  ),
  endAt: t.Optional(t.String({ title: 'End', description: 'No run is due after this time. Without a zone: UTC.' })),
  overlap: oneOf(overlaps, {
    title: 'Overlap',
    description:
      'A due time during a run is skipped, or starts a run after it (at most one waits), or starts a run beside it.',
    default: 'skip',
    labels: { skip: 'Skip it', queue: 'Run after the current run', allow: 'Run at the same time' },
  }),
  missed: oneOf(missedPolicies, {
    title: 'Missed',
    description: 'After downtime of the service, the last missed time runs, or none, or all of them.',
    default: 'once',
    labels: { once: 'Run the last one', skip: 'Run none', all: 'Run all' },
  }),
  missedMax: t.Integer({
    title: 'Missed at most',
    description: 'For “Run all”: the number of missed times that run, counted from the last one.',
    minimum: 1,
    maximum: 1_000,
    default: 10,
  }),
  jitterMs: t.Integer({
    title: 'Jitter (ms)',
    description: 'Each run starts later by a random time up to this.',
    minimum: 0,
    maximum: 3_600_000,
    default: 0,
  }),
})

export const schedule = defineBlock({
  type: 'schedule',
  label: 'Schedule',
  description: 'Starts the workflow at the times of a cron expression, or at an interval.',
  kind: 'trigger',
  starts: 'schedule',
  isRepeatable: true,
  parameters: t.Object({ ...Parameters.properties, labels: Labels }),
  modes: {
    ...Object.fromEntries(Object.keys(Parameters.properties).map((name) => [name, 'literal' as const])),
    labels: 'own',
  },
  outputs: ['dueAt', 'firedAt'],
  mayFail: false,
  registers: (params) => ({ schedule: ruleOf(params) }),
  showInput: ({ labels: _, ...shown }) => shown,
  check: ({ cron, intervalMs, timezone, startAt, endAt }, _facts, { labels }) => [
    ...checkLabels(labels),
    ...checkTimes(cron as string | undefined, intervalMs as number | undefined),
    ...checkZone((timezone ?? 'UTC') as string),
    ...checkBounds({ startAt, endAt } as { startAt?: string; endAt?: string }),
  ],
  run({ labels }, context) {
    const outputs = { ...context.input.fields }
    labelWith(labels, outputs, context)
    return { outputs }
  },
})

type Params = typeof Parameters.static & { labels?: unknown }

function ruleOf({ cron, intervalMs, startAt, endAt, labels: _, ...rest }: Params): ScheduleRule {
  return {
    ...rest,
    cron: cron ?? null,
    intervalMs: intervalMs ?? null,
    startAt: readTime(startAt ?? '') ?? null,
    endAt: readTime(endAt ?? '') ?? null,
  }
}

function checkTimes(cron: string | undefined, intervalMs: number | undefined): ParameterFinding[] {
  if ((cron === undefined) === (intervalMs === undefined)) {
    return [error('INVALID_SCHEDULE', 'cron', 'A schedule needs either Cron or Interval (ms), and not both.')]
  }
  const problem = cron === undefined ? undefined : cronProblem(cron)
  return problem === undefined ? [] : [error('INVALID_SCHEDULE', 'cron', problem)]
}

function checkZone(timezone: string): ParameterFinding[] {
  const problem = timezoneProblem(timezone)
  return problem === undefined ? [] : [error('INVALID_SCHEDULE', 'timezone', problem)]
}

function checkBounds(bounds: { startAt?: string; endAt?: string }): ParameterFinding[] {
  const unreadable = (['startAt', 'endAt'] as const).filter((name) => {
    return bounds[name] !== undefined && readTime(bounds[name]) === undefined
  })
  if (unreadable.length > 0) {
    return unreadable.map((name) => {
      const message = `${Parameters.properties[name].title} must be a time such as 2025-01-31T08:00:00Z, or a date.`
      return error('INVALID_SCHEDULE', name, message)
    })
  }
  const [start, end] = [readTime(bounds.startAt ?? ''), readTime(bounds.endAt ?? '')]
  if (start === undefined || end === undefined || start <= end) return []
  return [error('INVALID_SCHEDULE', 'endAt', 'The schedule ends before it starts.')]
}

function error(code: string, path: string, message: string): ParameterFinding {
  return { level: 'error', code, path, message }
}
