import { type Static, Type as t } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { oneOf } from '../one-of.ts'

/** The longest time that `MILLRACE_RUN_TIMEOUT_MS` and `MILLRACE_ASYNC_TIMEOUT_MS` allow. */
const timeoutMsMax = 604_800_000
/** 31 days. */
export const windowMsMax = 2_678_400_000

const whole = (minimum: number, maximum: number, unit = '') =>
  t.Integer({ minimum, maximum, expected: `a whole number from ${minimum} to ${maximum}${unit}` })

const closed = { additionalProperties: false }

export const beyondLimit = ['queue', 'skip', 'refuse', 'replace'] as const
/** The treatment of a start beyond the limits. */
export type BeyondLimit = (typeof beyondLimit)[number]

/** The limits that a workflow sets for its own runs. Unknown members are rejected, because nobody may rely on them. */
export const WorkflowLimits = t.Object(
  {
    /** The time that a whole run may take. */
    timeoutMs: t.Optional(whole(1, timeoutMsMax, ' (milliseconds)')),
    /** The runs at the same time, of each key. */
    concurrency: t.Optional(whole(1, 100_000)),
    /** The starts in any time of this length, of each key. */
    rate: t.Optional(
      t.Object({ count: whole(1, 1_000_000), windowMs: whole(1, windowMsMax, ' (milliseconds)') }, closed),
    ),
    /** A template over the input of the trigger. Starts with the same text share the limits. */
    key: t.Optional(t.String({ minLength: 1, maxLength: 1_000 })),
    beyond: t.Optional(oneOf(beyondLimit, { expected: '"queue", "skip", "refuse" or "replace"' })),
    /** The starts of a key that may wait. */
    queueMax: t.Optional(whole(0, 100_000)),
    /** The workflow runs once after starts that follow each other, when none came for `quietMs`. */
    debounce: t.Optional(
      t.Object(
        {
          quietMs: whole(1, 86_400_000, ' (milliseconds)'),
          /** The longest time from the first start. */
          maxMs: t.Optional(whole(1, windowMsMax, ' (milliseconds)')),
        },
        closed,
      ),
    ),
    /** Asynchronous runs of a workflow with a higher priority come before those of others in its workspace. */
    priority: t.Optional(whole(-10, 10)),
  },
  closed,
)
export type WorkflowLimits = Static<typeof WorkflowLimits>

/** `queueMax` of a workflow that sets none. */
export const queueMaxDefault = 1_000

/** The limits in a stored document. None when an earlier version of the service kept another member of this name. */
export function limitsIn({ limits }: { limits?: unknown }): WorkflowLimits {
  return Value.Check(WorkflowLimits, limits) ? limits : {}
}
