import type { ReactNode } from 'react'
import { classes } from '../../../parts/class-names.ts'

/** An error message with its code. `isCalm`: somebody stopped the run, so nothing went wrong. */
export function ErrorBox({
  code,
  message,
  action,
  isCalm = false,
}: {
  code: string
  message: string
  action?: ReactNode
  isCalm?: boolean
}) {
  return (
    <div
      role="alert"
      className={classes(
        'flex items-start gap-3 rounded-lg px-3 py-2 text-sm',
        isCalm ? 'bg-sunken text-text' : 'bg-error-soft text-error-text',
      )}
    >
      <div className="min-w-0 flex-1">
        <p className="break-words whitespace-pre-wrap">{message}</p>
        <p className="mt-0.5 font-mono text-2xs">{code}</p>
      </div>
      {action}
    </div>
  )
}
