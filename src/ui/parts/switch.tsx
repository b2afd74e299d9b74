import { Switch as BaseSwitch } from '@base-ui/react/switch'

/** A switch that takes effect immediately, with its label. */
export function Switch({
  label,
  checked,
  onChange,
  disabled,
  isLabelHidden = false,
}: {
  label: string
  checked: boolean
  onChange: (checked: boolean) => void
  disabled?: boolean
  /** Only for screen readers, where the place of the switch says enough. */
  isLabelHidden?: boolean
}) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the switch inside is the control
    <label className="flex items-center gap-2 text-sm select-none">
      <BaseSwitch.Root
        checked={checked}
        onCheckedChange={onChange}
        disabled={disabled ?? false}
        className="relative h-4.5 w-8 shrink-0 rounded-full bg-line-strong p-0.5 transition-colors data-checked:bg-accent data-disabled:opacity-50"
      >
        <BaseSwitch.Thumb className="block size-3.5 rounded-full bg-surface shadow-sm transition-transform data-checked:translate-x-3.5" />
      </BaseSwitch.Root>
      {isLabelHidden ? <span className="sr-only">{label}</span> : label}
    </label>
  )
}
