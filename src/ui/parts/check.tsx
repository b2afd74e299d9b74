import { classes } from './class-names.ts'

/** A checkbox with a label. */
export function Check({
  label,
  note,
  checked,
  onChange,
  disabled,
  className,
}: {
  label: string
  note?: string
  checked: boolean
  onChange: (checked: boolean) => void
  disabled?: boolean
  className?: string
}) {
  return (
    <label className={classes('flex gap-2 text-sm select-none', note ? 'items-start' : 'items-center', className)}>
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChange(event.target.checked)}
        className={classes('size-3.5 shrink-0 accent-accent', note && 'mt-0.75')}
      />
      <span className="min-w-0">
        {label}
        {note && <span className="block text-xs text-muted">{note}</span>}
      </span>
    </label>
  )
}
