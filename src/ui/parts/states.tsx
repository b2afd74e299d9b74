import { CircleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { messageOf } from '../api/message-of.ts'
import { Button } from './button.tsx'
import { classes } from './class-names.ts'

/** A placeholder while data or code loads. It appears after 300 ms. */
export function Loading({ lines = 6, label = 'Loading' }: { lines?: number; label?: string }) {
  return (
    <div role="status" aria-label={label} className="late flex flex-col gap-3 p-6">
      {Array.from({ length: lines }, (_, index) => index).map((line) => (
        <div key={line} className={classes('skeleton h-5', line % 3 === 0 ? 'w-2/3' : 'w-full')} />
      ))}
    </div>
  )
}

/** An empty state: why the list is empty, and what to do. */
export function Empty({
  icon,
  title,
  children,
  action,
}: {
  icon?: ReactNode
  title: string
  children?: ReactNode
  action?: ReactNode
}) {
  return (
    <div className="flex flex-1 flex-col items-center justify-center gap-2 px-6 py-14 text-center">
      {icon && <div className="mb-1 rounded-xl bg-hover p-3 text-muted">{icon}</div>}
      <h2 className="text-base font-semibold">{title}</h2>
      {children && <div className="max-w-96 text-sm text-muted">{children}</div>}
      {action && <div className="mt-2 flex gap-2">{action}</div>}
    </div>
  )
}

/** A loading error with a retry button. */
export function Failed({
  error,
  retry,
  title = 'Loading failed',
}: {
  error: unknown
  retry?: (() => void) | undefined
  title?: string
}) {
  return (
    <div role="alert" className="flex flex-1 flex-col items-center justify-center gap-2 px-6 py-14 text-center">
      <CircleAlert size={22} className="text-error-text" aria-hidden="true" />
      <h2 className="text-base font-semibold">{title}</h2>
      <p className="max-w-96 text-sm break-words text-muted">{messageOf(error)}</p>
      {retry && (
        <Button className="mt-2" onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  )
}

/** The message of a failed action, inside its form. Null: nothing failed. */
export function ErrorNote({ error }: { error: unknown }) {
  if (error === null || error === undefined) return null
  return (
    <p role="alert" className="rounded-md bg-error-soft px-3 py-2 text-sm text-error-text">
      {messageOf(error)}
    </p>
  )
}
