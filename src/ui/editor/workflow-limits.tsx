import { BeyondField, DebounceFields, KeyField, NumberField, RateFields, useLimits } from './limit-fields.tsx'

/** Edits the limits of the workflow. */
export function WorkflowLimits() {
  const { limits, readOnly, change } = useLimits()
  const isLimited = limits.concurrency !== undefined || limits.rate !== undefined
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="mb-1 text-xs font-medium">Limits</legend>
      <NumberField
        label="Time limit of a run (ms)"
        note="A run that takes longer ends as failed. Empty: only the limits of the service apply. The time in a pause does not count."
        value={limits.timeoutMs}
        range={{ min: 1, max: 604_800_000 }}
        readOnly={readOnly}
        onChange={(timeoutMs) => change({ timeoutMs })}
      />
      <NumberField
        label="Runs at the same time"
        note="Runs from the editor do not count."
        value={limits.concurrency}
        range={{ min: 1, max: 100_000 }}
        readOnly={readOnly}
        onChange={(concurrency) => change({ concurrency })}
      />
      <RateFields />
      <DebounceFields />
      {(isLimited || limits.debounce || limits.key !== undefined) && <KeyField />}
      {isLimited && <BeyondField />}
      {isLimited && (limits.beyond ?? 'queue') !== 'skip' && limits.beyond !== 'refuse' && (
        <NumberField
          label="Starts that may wait"
          note="Empty: 1,000. Further ones are refused."
          value={limits.queueMax}
          range={{ min: 0, max: 100_000 }}
          readOnly={readOnly}
          onChange={(queueMax) => change({ queueMax })}
        />
      )}
      <NumberField
        label="Priority"
        note="Queued runs of workflows with a higher priority come first in their workspace. Empty: 0."
        value={limits.priority}
        range={{ min: -10, max: 10 }}
        readOnly={readOnly}
        onChange={(priority) => change({ priority })}
      />
    </fieldset>
  )
}
