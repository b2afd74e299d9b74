import { useId } from 'react'
import { classes } from './class-names.ts'

/** A few options side by side, of which one is selected. */
export function Segments<Value extends string>({
  label,
  value,
  onChange,
  options,
}: {
  label: string
  value: Value
  onChange: (value: Value) => void
  options: readonly { value: Value; label: string }[]
}) {
  const name = useId()
  return (
    <fieldset className="inline-flex h-8 shrink-0 rounded-md border border-line-strong bg-surface p-0.5 shadow-sm">
      <legend className="sr-only">{label}</legend>
      {options.map((option) => (
        <label
          key={option.value}
          className={classes(
            'relative flex cursor-default items-center rounded-sm px-2 text-xs font-medium whitespace-nowrap select-none',
            'has-focus-visible:outline-2 has-focus-visible:outline-accent',
            value === option.value ? 'bg-pressed text-text' : 'text-muted hover:text-text',
          )}
        >
          <input
            type="radio"
            name={name}
            value={option.value}
            checked={value === option.value}
            onChange={() => onChange(option.value)}
            className="sr-only"
          />
          {option.label}
        </label>
      ))}
    </fieldset>
  )
}
