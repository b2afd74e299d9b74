import { useState } from 'react'
import { classes } from './class-names.ts'

export type BarTone = 'accent' | 'error' | 'model' | 'muted'
export type BarSeries = { name: string; tone: BarTone; values: readonly number[] }

const tones: Record<BarTone, string> = {
  accent: 'bg-accent',
  error: 'bg-error',
  model: 'bg-model',
  muted: 'bg-line-strong',
}

/** A stacked bar chart over time. A table carries the numbers for screen readers. */
export function BarChart({
  label,
  labels,
  series,
  say,
  none,
}: {
  label: string
  labels: readonly string[]
  series: readonly BarSeries[]
  say: (value: number) => string
  /** Shown when every value is 0. */
  none: string
}) {
  const [at, setAt] = useState<number>()
  const sums = labels.map((_, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0))
  const most = Math.max(...sums, 0)
  if (most === 0) {
    return (
      <p className="flex h-24 items-center justify-center rounded-lg border border-dashed border-line-strong text-sm text-muted">
        {none}
      </p>
    )
  }
  const pointed = at ?? labels.length - 1
  return (
    <figure className="rounded-lg border border-line bg-surface p-4">
      <figcaption
        className="flex min-h-5 flex-wrap items-center gap-x-4 gap-y-1 text-xs whitespace-nowrap text-muted tabular-nums"
        aria-hidden="true"
      >
        <span className="text-text">{labels[pointed]}</span>
        {series.map(({ name, tone, values }) => (
          <span key={name} className="flex items-center gap-1.5">
            <span className={classes('size-2 rounded-sm', tones[tone])} />
            {name} {say(values[pointed] ?? 0)}
          </span>
        ))}
        <span className="flex-1" />
        <span>max {say(most)}</span>
      </figcaption>
      <div
        className="mt-2 flex h-28 items-end border-b border-line"
        aria-hidden="true"
        onPointerLeave={() => setAt(undefined)}
      >
        {labels.map((day, index) => (
          <div
            // biome-ignore lint/suspicious/noArrayIndexKey: bars are identified by position
            key={index}
            title={day}
            onPointerEnter={() => setAt(index)}
            className={classes('flex h-full min-w-0 flex-1 flex-col-reverse px-px', at === index && 'bg-hover')}
          >
            {series.map(({ name, tone, values }) => {
              const value = values[index] ?? 0
              return (
                <div
                  key={name}
                  className={classes('last:rounded-t-[2px]', tones[tone])}
                  style={{ height: value === 0 ? '0' : `max(2px, ${(value / most) * 100}%)` }}
                />
              )
            })}
          </div>
        ))}
      </div>
      <div className="flex justify-between pt-1 text-2xs text-muted" aria-hidden="true">
        <span>{labels[0]}</span>
        <span>{labels[Math.floor(labels.length / 2)]}</span>
        <span>{labels.at(-1)}</span>
      </div>
      <table className="sr-only">
        <caption>{label}</caption>
        <thead>
          <tr>
            <th scope="col">Day</th>
            {series.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {labels.map((day, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows are identified by position
            <tr key={index}>
              <th scope="row">{day}</th>
              {series.map(({ name, values }) => (
                <td key={name}>{say(values[index] ?? 0)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  )
}
