import type { ReactNode } from 'react'

/** An error message with its code. */
export function ErrorBox({ code, message, action }: { code: string; message: string; action?: ReactNode }) {
  return (
    <div role="alert" className="flex items-start gap-3 rounded-lg bg-error-soft px-3 py-2 text-sm text-error-text">
      <div className="min-w-0 flex-1">
        <p className="break-words whitespace-pre-wrap">{message}</p>
        <p className="mt-0.5 font-mono text-2xs">{code}</p>
      </div>
      {action}
    </div>
  )
}
