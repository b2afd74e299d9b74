import { useState } from 'react'
import { Field, Input } from '../parts/field.tsx'
import { useDraft, useEditing } from './editing.tsx'

/** Edits the limits of the workflow. A value that the service would reject stays in the field, beside its problem. */
export function WorkflowLimits() {
  const { draft, readOnly } = useEditing()
  const saved = useDraft((state) => state.document.limits?.timeoutMs)
  const [typed, setTyped] = useState<string | undefined>()
  const text = typed ?? (saved === undefined ? '' : String(saved))
  const change = (next: string) => {
    const isValid = next === '' || isTimeout(next)
    setTyped(isValid ? undefined : next)
    if (!isValid) return
    const limits = next === '' ? {} : { timeoutMs: Number(next) }
    draft.perform({ kind: 'limits', limits }, 'workflow time limit')
  }
  return (
    <fieldset className="flex flex-col gap-1.5">
      <legend className="mb-1 text-xs font-medium">Limits</legend>
      <Field
        label="Time limit of a run (ms)"
        optional
        note="A run that takes longer ends as failed. Empty: only the limits of the service apply. The time in a pause does not count."
        error={typed !== undefined && `Enter a whole number from 1 to ${timeoutMsMax.toLocaleString('en')}.`}
      >
        {(tied) => (
          <Input
            {...tied}
            inputMode="numeric"
            value={text}
            readOnly={readOnly}
            onChange={(event) => change(event.target.value.trim())}
            className="max-w-40"
          />
        )}
      </Field>
    </fieldset>
  )
}

const timeoutMsMax = 604_800_000

function isTimeout(text: string): boolean {
  return /^[1-9]\d{0,8}$/.test(text) && Number(text) <= timeoutMsMax
}
