import type { ReactNode } from 'react'
import { classes } from './class-names.ts'

export type Tone = 'plain' | 'accent' | 'ok' | 'error' | 'warn'

const tones: Record<Tone, string> = {
  plain: 'bg-hover text-muted',
  accent: 'bg-accent-soft text-accent-text',
  ok: 'bg-ok-soft text-ok-text',
  error: 'bg-error-soft text-error-text',
  warn: 'bg-warn-soft text-warn-text',
}

/** A short status label. */
export function Badge({
  tone = 'plain',
  children,
  className,
}: {
  tone?: Tone
  children: ReactNode
  className?: string
}) {
  return (
    <span
      className={classes(
        'inline-flex h-5 items-center gap-1 rounded-full px-2 text-2xs font-medium whitespace-nowrap',
        tones[tone],
        className,
      )}
    >
      {children}
    </span>
  )
}

const dots: Record<Tone, string> = {
  plain: 'bg-line-strong',
  accent: 'bg-accent',
  ok: 'bg-ok',
  error: 'bg-error',
  warn: 'bg-warn',
}

/** A coloured status dot. Also state the status in text next to it or in `label`. */
export function Dot({ tone = 'plain', label }: { tone?: Tone; label?: string }) {
  return (
    <span
      {...(label ? { role: 'img', 'aria-label': label } : { 'aria-hidden': true })}
      className={classes('inline-block size-2 shrink-0 rounded-full', dots[tone])}
    />
  )
}
