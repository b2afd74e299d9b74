import { CalendarRange, ChevronDown } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { classes } from '../../parts/class-names.ts'
import { TextField } from '../../parts/field.tsx'
import { Popover } from '../../parts/popover.tsx'
import { momentText } from '../../parts/time-text.ts'
import type { LogFilter, RangeName } from './log-filter.ts'

const names: Readonly<Record<RangeName, string>> = {
  '1h': 'Last hour',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
  all: 'All time',
}

/** Selects a relative range, or a start and end time. */
export function RangePick({
  range,
  onChange,
}: Pick<LogFilter, 'range'> & { onChange: (range: LogFilter['range']) => void }) {
  const [isOpen, setIsOpen] = useState(false)
  const [problem, setProblem] = useState<string>()
  const choose = (next: LogFilter['range']) => {
    onChange(next)
    setIsOpen(false)
    setProblem(undefined)
  }
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const fields = new FormData(event.currentTarget)
    const [from, to] = [isoOf(fields.get('from')), isoOf(fields.get('to'))]
    if (!from && !to) setProblem('Enter a start, an end or both.')
    else if (from && to && from >= to) setProblem('The end must be after the start.')
    else choose({ from, to })
  }
  const given = typeof range === 'string' ? undefined : range
  return (
    <Popover
      open={isOpen}
      onOpenChange={setIsOpen}
      className="w-72 p-1"
      trigger={
        <Button icon={<CalendarRange size={14} className="text-muted" aria-hidden="true" />} className="max-w-72">
          <span className="truncate">{rangeText(range)}</span>
          <ChevronDown size={14} className="-mr-1 shrink-0 opacity-70" aria-hidden="true" />
        </Button>
      }
    >
      {(Object.keys(names) as RangeName[]).map((name) => (
        <button
          key={name}
          type="button"
          aria-pressed={range === name}
          onClick={() => choose(name)}
          className={classes(
            'flex h-8 w-full cursor-default items-center rounded-md px-2 text-left text-sm hover:bg-hover',
            range === name && 'bg-hover font-medium',
          )}
        >
          {names[name]}
        </button>
      ))}
      <form onSubmit={send} className="mt-1 flex flex-col gap-2 border-t border-line p-2 pt-2.5">
        <TextField label="From" name="from" type="datetime-local" step={1} defaultValue={localOf(given?.from)} />
        <TextField
          label="To"
          error={problem}
          name="to"
          type="datetime-local"
          step={1}
          defaultValue={localOf(given?.to)}
        />
        <Button type="submit">Apply</Button>
      </form>
    </Popover>
  )
}

function rangeText(range: LogFilter['range']): string {
  if (typeof range === 'string') return names[range]
  const { from, to } = range
  if (from && to) return `${momentText(Date.parse(from))} – ${momentText(Date.parse(to))}`
  return from ? `Since ${momentText(Date.parse(from))}` : `Until ${momentText(Date.parse(to ?? ''))}`
}

/** The field contains local time without a time zone. */
function isoOf(value: FormDataEntryValue | null): string | undefined {
  const time = typeof value === 'string' && value !== '' ? new Date(value).getTime() : Number.NaN
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
}

function localOf(iso: string | undefined): string {
  if (!iso) return ''
  const date = new Date(iso)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}
