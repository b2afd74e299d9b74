import type { ReactNode } from 'react'

/** A name and its value, inside a `dl`. */
export function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="flex min-h-6 items-center gap-3">
      <dt className="w-24 shrink-0 text-xs text-muted">{label}</dt>
      <dd className="flex min-w-0 items-center gap-1">{children}</dd>
    </div>
  )
}
