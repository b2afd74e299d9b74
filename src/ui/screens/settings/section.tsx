import type { ReactNode } from 'react'
import { classes } from '../../parts/class-names.ts'

/** A section of the settings: title, note, action and content. */
export function Section({
  title,
  children,
  note,
  action,
}: {
  title: string
  note?: ReactNode
  action?: ReactNode
  children: ReactNode
}) {
  return (
    <section className="mb-9 flex flex-col gap-3">
      <header className="flex flex-wrap items-end justify-between gap-3">
        <div className="max-w-136 min-w-0">
          <h2 className="text-base font-semibold">{title}</h2>
          {note && <p className="text-sm text-muted">{note}</p>}
        </div>
        {action}
      </header>
      {children}
    </section>
  )
}

/** A list of facts, with names on the left. `areLong`: the names are sentences, which narrow pages put above. */
export function Facts({
  facts,
  areLong = false,
}: {
  facts: readonly { name: string; value: ReactNode; note?: ReactNode }[]
  areLong?: boolean
}) {
  return (
    <dl className="divide-y divide-line rounded-lg border border-line bg-surface">
      {facts.map(({ name, value, note }) => (
        <div
          key={name}
          className={classes(
            'grid items-baseline gap-x-4 px-3 py-2 text-sm',
            areLong
              ? 'md:grid-cols-[26rem_minmax(0,1fr)]'
              : 'grid-cols-[7rem_minmax(0,1fr)] md:grid-cols-[11rem_minmax(0,1fr)]',
          )}
        >
          <dt className="text-muted">{name}</dt>
          <dd className="min-w-0 break-words tabular-nums">
            {value}
            {note && <span className="ml-2 text-xs text-muted">{note}</span>}
          </dd>
        </div>
      ))}
    </dl>
  )
}
