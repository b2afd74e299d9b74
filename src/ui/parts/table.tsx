import type { ComponentProps, ReactNode } from 'react'
import { classes } from './class-names.ts'

/** A table that scrolls sideways when there is not enough space. */
export function Table({
  label,
  head,
  numbersFrom = head.length,
  wideOnly = [],
  children,
}: {
  label: string
  head: readonly ReactNode[]
  /** The first numeric column. Heads from there on are right-aligned, like their cells. */
  numbersFrom?: number
  /** Columns hidden on narrow pages. Their cells need `max-md:hidden` too. */
  wideOnly?: readonly number[]
  children: ReactNode
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section aria-label={label} tabIndex={0} className="overflow-x-auto rounded-lg border border-line bg-surface">
      <table className="w-full border-collapse text-left text-sm">
        <thead>
          <tr className="border-b border-line">
            {head.map((cell, index) => (
              <th
                // biome-ignore lint/suspicious/noArrayIndexKey: columns do not move
                key={index}
                scope="col"
                className={classes(
                  'h-8 px-3 text-xs font-medium whitespace-nowrap text-muted',
                  index >= numbersFrom && 'text-right',
                  wideOnly.includes(index) && 'max-md:hidden',
                )}
              >
                {cell}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line">{children}</tbody>
      </table>
    </section>
  )
}

export function Row(props: ComponentProps<'tr'>) {
  return <tr {...props} className={classes('hover:bg-hover', props.className)} />
}

export function Cell(props: ComponentProps<'td'>) {
  return <td {...props} className={classes('h-10 px-3', props.className)} />
}
