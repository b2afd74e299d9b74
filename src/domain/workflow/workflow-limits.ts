import { type Static, Type as t } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { oneOf } from '../one-of.ts'
import { limitRanges } from './limit-ranges.ts'

const whole = (name: keyof typeof limitRanges) => {
  const { min, max } = limitRanges[name]
  const unit = name.endsWith('Ms') ? ' (milliseconds)' : ''
  return t.Integer({ minimum: min, maximum: max, expected: `a whole number from ${min} to ${max}${unit}` })
}

const closed = { additionalProperties: false }

export const beyondLimit = ['queue', 'skip', 'refuse', 'replace'] as const
/** The treatment of a start over the concurrency or rate. */
export type BeyondLimit = (typeof beyondLimit)[number]

/** The limits that a workflow sets for its own runs. Unknown members are rejected, because they would limit nothing. */
export const WorkflowLimits = t.Object(
  {
    /** How long a run may take. */
    timeoutMs: t.Optional(whole('timeoutMs')),
    /** How many runs of a key may be in progress at the same time. */
    concurrency: t.Optional(whole('concurrency')),
    /** At most `count` runs of a key start in any period of `windowMs`. */
    rate: t.Optional(t.Object({ count: whole('count'), windowMs: whole('windowMs') }, closed)),
    /** A template over the input of the trigger. Starts with the same text share the limits. */
    key: t.Optional(t.String({ minLength: 1, maxLength: 1_000 })),
    beyond: t.Optional(oneOf(beyondLimit, { expected: '"queue", "skip", "refuse" or "replace"' })),
    /** How many starts of a key may wait. */
    queueMax: t.Optional(whole('queueMax')),
    /** Combines the starts of a key into one run, which begins when no start has come for `quietMs`. */
    debounce: t.Optional(
      t.Object(
        {
          quietMs: whole('quietMs'),
          /** The longest time that the run may be delayed after the first start. */
          maxMs: t.Optional(whole('maxMs')),
        },
        closed,
      ),
    ),
    /** Queued runs of workflows with a higher priority come before those of other workflows in the same workspace. */
    priority: t.Optional(whole('priority')),
  },
  closed,
)
export type WorkflowLimits = Static<typeof WorkflowLimits>

/** The value of `queueMax` when a workflow does not set it. */
export const queueMaxDefault = 1_000

/** The limits in a stored document. Ignores an invalid member `limits`, which earlier versions accepted. */
export function limitsIn({ limits }: { limits?: unknown }): WorkflowLimits {
  return Value.Check(WorkflowLimits, limits) ? limits : {}
}
