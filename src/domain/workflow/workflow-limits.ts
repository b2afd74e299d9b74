import { type Static, Type as t } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

/** The longest time that `MILLRACE_RUN_TIMEOUT_MS` and `MILLRACE_ASYNC_TIMEOUT_MS` allow. */
const timeoutMsMax = 604_800_000

/** The limits that a workflow sets for its own runs. Unknown members are rejected, because nobody may rely on them. */
export const WorkflowLimits = t.Object(
  {
    /** The time that a whole run may take. */
    timeoutMs: t.Optional(
      t.Integer({
        minimum: 1,
        maximum: timeoutMsMax,
        expected: `a whole number from 1 to ${timeoutMsMax} (milliseconds)`,
      }),
    ),
  },
  { additionalProperties: false },
)
export type WorkflowLimits = Static<typeof WorkflowLimits>

/** The limits in a stored document. None when an earlier version of the service kept another member of this name. */
export function limitsIn({ limits }: { limits?: unknown }): WorkflowLimits {
  return Value.Check(WorkflowLimits, limits) ? limits : {}
}
