import type { ComponentProps, ReactNode } from 'react'
import { classes } from './class-names.ts'
import { Hint } from './hint.tsx'
import { Spinner } from './spinner.tsx'

type Look = 'primary' | 'accent' | 'plain' | 'quiet' | 'danger'

export type ButtonProps = ComponentProps<'button'> & {
  look?: Look
  size?: 'small' | 'normal'
  icon?: ReactNode
  /** Shows a spinner and disables the button. */
  busy?: boolean
}

/** A button. Use `primary` at most once per view; `accent` is the next important action beside it. */
export function Button({ look = 'plain', size = 'normal', icon, busy, disabled, children, ...props }: ButtonProps) {
  return (
    <button
      type="button"
      {...props}
      disabled={disabled || busy}
      aria-busy={busy}
      className={classes(
        'inline-flex shrink-0 cursor-default items-center justify-center gap-1.5 rounded-md font-medium whitespace-nowrap select-none',
        'transition-colors duration-75 disabled:opacity-50',
        size === 'small' ? 'h-7 px-2 text-xs' : 'h-8 px-3 text-sm',
        looks[look],
        props.className,
      )}
    >
      {busy ? <Spinner /> : icon}
      {children}
    </button>
  )
}

const looks: Record<Look, string> = {
  primary: 'bg-accent text-on-accent not-disabled:hover:bg-accent-hover',
  accent:
    'border border-accent bg-accent-soft text-accent-text shadow-sm not-disabled:hover:border-accent-hover not-disabled:active:bg-pressed',
  plain:
    'border border-line-strong bg-surface text-text shadow-sm not-disabled:hover:bg-sunken not-disabled:active:bg-pressed',
  quiet: 'text-text not-disabled:hover:bg-hover not-disabled:active:bg-pressed',
  danger:
    'border border-line-strong bg-surface text-error-text shadow-sm not-disabled:hover:border-error not-disabled:hover:bg-error-soft',
}

/** A button with only an icon. `label` is its accessible name and its tooltip, together with its keys. */
export function IconButton({
  label,
  keys,
  icon,
  size = 'normal',
  pressed,
  side,
  ...props
}: Omit<ComponentProps<'button'>, 'children'> & {
  label: string
  keys?: string
  icon: ReactNode
  size?: 'small' | 'normal'
  pressed?: boolean
  side?: 'top' | 'bottom' | 'left' | 'right'
}) {
  return (
    <Hint text={label} {...(keys === undefined ? {} : { keys })} {...(side === undefined ? {} : { side })}>
      <button
        type="button"
        {...props}
        aria-label={label}
        {...(pressed === undefined ? {} : { 'aria-pressed': pressed })}
        className={classes(
          'inline-flex shrink-0 cursor-default items-center justify-center rounded-md text-muted transition-colors duration-75',
          'not-disabled:hover:bg-hover not-disabled:hover:text-text not-disabled:active:bg-pressed disabled:opacity-40',
          'aria-pressed:bg-accent-soft aria-pressed:text-accent-text data-popup-open:bg-pressed data-popup-open:text-text',
          size === 'small' ? 'size-6' : 'size-8',
          props.className,
        )}
      >
        {icon}
      </button>
    </Hint>
  )
}
