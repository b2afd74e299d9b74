import type { ReactNode } from 'react'

/** One sentence of a report. */
export function Fact({ icon, children }: { icon: ReactNode; children: ReactNode }) {
  return (
    <p className="flex gap-2 text-sm">
      <span className="mt-0.5 shrink-0">{icon}</span>
      <span className="min-w-0">{children}</span>
    </p>
  )
}

/** The list below a sentence. */
export function List({ label, children }: { label: string; children: ReactNode }) {
  return (
    <ul aria-label={label} className="mt-1.5 ml-6 flex list-disc flex-col gap-1 pl-4 text-sm break-words">
      {children}
    </ul>
  )
}

/** A part of a report that is folded, because few people read it. */
export function Folded({ title, isOpen = false, children }: { title: string; isOpen?: boolean; children: ReactNode }) {
  return (
    <details open={isOpen}>
      <summary className="cursor-default rounded-md text-sm font-medium text-muted select-none hover:text-text">
        {title}
      </summary>
      {children}
    </details>
  )
}
