import { useState } from 'react'
import { limitRanges } from '../../domain/workflow/limit-ranges.ts'
import { Field, Input, Select } from '../parts/field.tsx'
import type { Limits } from './document/document.ts'
import { useDraft, useEditing } from './editing.tsx'

export type LimitRange = { min: number; max: number }

/** Reads and changes the limits in the draft. A member that is undefined is removed. */
export function useLimits() {
  const { draft, readOnly } = useEditing()
  const limits = useDraft((state) => state.document.limits) ?? {}
  const change = (members: { [Name in keyof Limits]?: Limits[Name] | undefined }) => {
    const kept = Object.entries({ ...limits, ...members }).filter(([, value]) => value !== undefined)
    draft.perform({ kind: 'limits', limits: Object.fromEntries(kept) }, `workflow ${Object.keys(members).join(' ')}`)
  }
  return { limits, readOnly, change }
}

/** A whole number, or empty. A value that the service would reject stays in the field and shows its problem. */
export function NumberField({
  label,
  note,
  value,
  range,
  readOnly,
  onChange,
}: {
  label: string
  note?: string
  value: number | undefined
  range: LimitRange
  readOnly: boolean
  onChange: (value: number | undefined) => void
}) {
  const [typed, setTyped] = useState<string | undefined>()
  const change = (next: string) => {
    const isValid = next === '' || isWithin(next, range)
    setTyped(isValid ? undefined : next)
    if (isValid) onChange(next === '' ? undefined : Number(next))
  }
  const { min, max } = range
  const problem = `Enter a whole number from ${min.toLocaleString('en')} to ${max.toLocaleString('en')}.`
  return (
    <Field label={label} optional note={note} error={typed === undefined ? undefined : problem}>
      {(tied) => (
        <Input
          {...tied}
          inputMode="numeric"
          value={typed ?? (value === undefined ? '' : String(value))}
          readOnly={readOnly}
          onChange={(event) => change(event.target.value.trim())}
          className="max-w-40"
        />
      )}
    </Field>
  )
}

function isWithin(text: string, { min, max }: LimitRange): boolean {
  return /^-?\d{1,10}$/.test(text) && Number(text) >= min && Number(text) <= max
}

/** The quiet time and the longest delay. */
export function DebounceFields() {
  const { limits, readOnly, change } = useLimits()
  const { debounce } = limits
  return (
    <>
      <NumberField
        label="Debounce: quiet time (ms)"
        note="Starts within this time of each other become one run, with the last input. Callers do not wait."
        value={debounce?.quietMs}
        range={limitRanges.quietMs}
        readOnly={readOnly}
        onChange={(quietMs) => change({ debounce: quietMs === undefined ? undefined : { ...debounce, quietMs } })}
      />
      {debounce && (
        <NumberField
          label="Debounce: longest delay (ms)"
          note="The run begins at most this long after the first start. Empty: 31 days."
          value={debounce.maxMs}
          range={limitRanges.maxMs}
          readOnly={readOnly}
          onChange={(maxMs) =>
            change({ debounce: { quietMs: debounce.quietMs, ...(maxMs !== undefined && { maxMs }) } })
          }
        />
      )}
    </>
  )
}

type RateInput = { count?: number | undefined; windowMs?: number | undefined }

/** The rate: both numbers, or neither. A single number stays in its field until the other one is filled in. */
export function RateFields() {
  const { limits, readOnly, change } = useLimits()
  const [half, setHalf] = useState<RateInput>({})
  const shown: RateInput = limits.rate ?? half
  const set = (member: 'count' | 'windowMs', value: number | undefined) => {
    const { count, windowMs }: RateInput = { ...shown, [member]: value }
    const isWhole = count !== undefined && windowMs !== undefined
    setHalf(isWhole ? {} : { count, windowMs })
    if (isWhole || limits.rate) change({ rate: isWhole ? { count, windowMs } : undefined })
  }
  return (
    <>
      <NumberField
        label="Starts per window"
        note="At most this many runs start in any window of the length below."
        value={shown.count}
        range={limitRanges.count}
        readOnly={readOnly}
        onChange={(value) => set('count', value)}
      />
      <NumberField
        label="Window (ms)"
        value={shown.windowMs}
        range={limitRanges.windowMs}
        readOnly={readOnly}
        onChange={(value) => set('windowMs', value)}
      />
    </>
  )
}

const treatments: readonly { value: NonNullable<Limits['beyond']>; label: string }[] = [
  { value: 'queue', label: 'Queue the start' },
  { value: 'skip', label: 'Skip the start' },
  { value: 'refuse', label: 'Refuse the start (429)' },
  { value: 'replace', label: 'Replace the oldest run' },
]

export function BeyondField() {
  const { limits, readOnly, change } = useLimits()
  return (
    <Field label="When a limit is reached">
      {(tied) => (
        <Select
          {...tied}
          value={limits.beyond ?? 'queue'}
          disabled={readOnly}
          options={treatments}
          onChange={(event) => {
            const beyond = event.target.value as NonNullable<Limits['beyond']>
            change({ beyond: beyond === 'queue' ? undefined : beyond })
          }}
          className="max-w-60"
        />
      )}
    </Field>
  )
}

export function KeyField() {
  const { limits, readOnly, change } = useLimits()
  return (
    <Field
      label="Limit key"
      optional
      note="A value of the input, such as <start.customer>. The limits then apply to each value separately."
    >
      {(tied) => (
        <Input
          {...tied}
          value={limits.key ?? ''}
          maxLength={1_000}
          readOnly={readOnly}
          onChange={(event) => change({ key: event.target.value === '' ? undefined : event.target.value })}
        />
      )}
    </Field>
  )
}
