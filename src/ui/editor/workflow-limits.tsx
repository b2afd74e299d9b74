import { limitRanges } from '../../domain/workflow/limit-ranges.ts'
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
        note="A run that takes longer fails. The time in a pause does not count. Empty: the limits of the service."
        value={limits.timeoutMs}
        range={limitRanges.timeoutMs}
        readOnly={readOnly}
        onChange={(timeoutMs) => change({ timeoutMs })}
      />
      <NumberField
        label="Concurrent runs"
        note="At most this many runs are in progress at the same time. Runs from the editor do not count."
        value={limits.concurrency}
        range={limitRanges.concurrency}
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
          note="Further starts are refused. Empty: 1,000."
          value={limits.queueMax}
          range={limitRanges.queueMax}
          readOnly={readOnly}
          onChange={(queueMax) => change({ queueMax })}
        />
      )}
      <NumberField
        label="Priority"
        note="In a workspace, queued runs of workflows with a higher priority come first. Empty: 0."
        value={limits.priority}
        range={limitRanges.priority}
        readOnly={readOnly}
        onChange={(priority) => change({ priority })}
      />
    </fieldset>
  )
}
