import { CircleQuestionMark } from 'lucide-react'
import { type ComponentProps, type ReactNode, useId, useState } from 'react'
import { classes } from './class-names.ts'

/** The look of all text controls. */
export const controlLook = classes(
  'w-full rounded-md border border-line-strong bg-surface px-2.5 text-sm text-text shadow-sm transition-colors',
  'placeholder:text-muted hover:border-muted focus:border-accent focus:outline-2 focus:-outline-offset-1 focus:outline-accent',
  'aria-invalid:border-error disabled:opacity-60 [&:is(input,textarea):read-only]:bg-sunken',
)

export function Input({ className, ...props }: ComponentProps<'input'>) {
  return <input autoComplete="off" spellCheck={false} {...props} className={classes(controlLook, 'h-8', className)} />
}

export function TextArea({ className, ...props }: ComponentProps<'textarea'>) {
  return (
    <textarea
      spellCheck={false}
      rows={3}
      {...props}
      className={classes(controlLook, 'min-h-16 resize-y py-1.5 leading-5', className)}
    />
  )
}

/** The native select: it works by keyboard, on phones and with screen readers. */
export function Select({
  options,
  className,
  ...props
}: ComponentProps<'select'> & { options: readonly { value: string; label: string }[] }) {
  return (
    <select {...props} className={classes(controlLook, 'chevron h-8 cursor-default appearance-none pr-7', className)}>
      {options.map(({ value, label }) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  )
}

/** Ties a control to its label and to its note or error. */
export type Tied = { id: string; 'aria-describedby'?: string; 'aria-invalid'?: true }

/** A label, a control, and a note or error. `children` receives what ties them together. */
export function Field({
  label,
  note,
  help,
  error,
  optional,
  aside,
  children,
}: {
  label: string
  note?: ReactNode
  /** A note behind a button at the label. Screen readers always have it. `isOpen`: whether it is visible at first. */
  help?: { text: string; isOpen: boolean } | undefined
  error?: ReactNode
  optional?: boolean
  /** Shown at the end of the label's line. */
  aside?: ReactNode
  children: (tied: Tied) => ReactNode
}) {
  const id = useId()
  const [hasHelp, setHasHelp] = useState(help?.isOpen === true)
  const describers = [...(error || note ? [`${id}-note`] : []), ...(help ? [`${id}-help`] : [])]
  const described = describers.length > 0 ? { 'aria-describedby': describers.join(' ') } : {}
  return (
    <div className="flex flex-col gap-1">
      <div data-label-line className="flex min-h-5 items-center justify-between gap-2">
        <span className="flex items-center gap-1">
          <label id={`${id}-label`} htmlFor={id} className="text-xs font-medium text-text">
            {label}
            {optional && <span className="ml-1.5 font-normal text-muted">optional</span>}
          </label>
          {help && (
            <button
              type="button"
              aria-label="Help"
              aria-describedby={`${id}-label`}
              aria-expanded={hasHelp}
              aria-controls={`${id}-help`}
              onClick={() => setHasHelp(!hasHelp)}
              className="flex size-5 items-center justify-center rounded-full text-muted hover:text-text aria-expanded:text-accent-text"
            >
              <CircleQuestionMark size={13} aria-hidden="true" />
            </button>
          )}
        </span>
        {aside}
      </div>
      {help && (
        <div id={`${id}-help`} className={hasHelp ? 'text-xs text-muted' : 'sr-only'}>
          {help.text}
        </div>
      )}
      {children({ id, ...described, ...(error ? { 'aria-invalid': true } : {}) })}
      {(error || note) && (
        <div id={`${id}-note`} className={classes('text-xs', error ? 'text-error-text' : 'text-muted')}>
          {error ?? note}
        </div>
      )}
    </div>
  )
}

type Labelled = {
  label: string
  note?: ReactNode
  error?: ReactNode
  optional?: boolean
}

/** A labelled line of text. Without `value`, the form reads it by its `name`. */
export function TextField({
  label,
  note,
  error,
  optional = false,
  onChange,
  ...input
}: Labelled & Omit<ComponentProps<'input'>, 'onChange'> & { onChange?: (text: string) => void }) {
  return (
    <Field label={label} note={note} error={error} optional={optional}>
      {(tied) => <Input {...tied} {...input} onChange={(event) => onChange?.(event.target.value)} />}
    </Field>
  )
}

/** A labelled select. */
export function SelectField<Value extends string>({
  label,
  note,
  value,
  options,
  onChange,
}: {
  label: string
  note?: ReactNode
  value: Value
  options: readonly { value: Value; label: string }[]
  onChange: (value: Value) => void
}) {
  return (
    <Field label={label} note={note}>
      {(tied) => (
        <Select {...tied} value={value} options={options} onChange={(event) => onChange(event.target.value as Value)} />
      )}
    </Field>
  )
}
