import { ChevronDown, Search } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Button } from './button.tsx'
import { classes } from './class-names.ts'
import { findItems } from './find.ts'
import { Popover } from './popover.tsx'

export type Choice = {
  value: string
  label: string
  icon?: ReactNode
  /** Shown at the end of the line. */
  note?: string | undefined
  /** Indentation level, for choices that belong to the one above. */
  depth?: number
}

/** A multi-select. Long lists can be searched. Nothing selected means all. */
export function MultiPick({
  label,
  choices,
  chosen,
  onChange,
}: {
  label: string
  choices: readonly Choice[]
  chosen: readonly string[]
  onChange: (chosen: string[]) => void
}) {
  const [typed, setTyped] = useState('')
  const found = findItems(choices, typed, (choice) => choice.label)
  const isChosen = new Set(chosen)
  const only = chosen.length === 1 ? choices.find(({ value }) => value === chosen[0]) : undefined
  const said = chosen.length === 0 ? label : only ? only.label : `${label}: ${chosen.length}`
  return (
    <Popover
      className="flex w-72 flex-col p-1"
      onOpenChange={(isOpen) => isOpen || setTyped('')}
      trigger={
        <Button
          aria-label={chosen.length === 0 ? label : `${label}: ${only?.label ?? `${chosen.length} selected`}`}
          className={classes('max-w-56', chosen.length > 0 && 'border-accent! bg-accent-soft! text-accent-text!')}
        >
          <span className="truncate">{said}</span>
          <ChevronDown size={14} className="-mr-1 shrink-0 opacity-70" aria-hidden="true" />
        </Button>
      }
    >
      {choices.length > searchFrom && (
        <div className="flex items-center gap-2 border-b border-line px-2 pb-1 text-muted">
          <Search size={14} aria-hidden="true" />
          <input
            aria-label={`Search ${label.toLowerCase()}`}
            placeholder="Search…"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
            className="h-7 w-full bg-transparent text-sm text-text outline-none placeholder:text-muted"
          />
        </div>
      )}
      <fieldset className="max-h-72 min-w-0 overflow-y-auto pt-1">
        <legend className="sr-only">{label}</legend>
        {found.map(({ value, label: text, icon, note, depth = 0 }) => (
          <label
            key={value}
            className="flex cursor-default items-center gap-2 rounded-md px-2 py-1 text-sm select-none hover:bg-hover has-focus-visible:bg-hover"
          >
            <input
              type="checkbox"
              checked={isChosen.has(value)}
              onChange={(event) =>
                onChange(event.target.checked ? [...chosen, value] : chosen.filter((other) => other !== value))
              }
              className="size-3.5 shrink-0 accent-accent"
            />
            {depth > 0 && typed === '' && <Indent depth={depth} />}
            {icon && <span className="shrink-0 text-muted">{icon}</span>}
            <span className="min-w-0 flex-1 truncate">{text}</span>
            {note && <span className="shrink-0 text-xs text-muted">{note}</span>}
          </label>
        ))}
        {found.length === 0 && <p className="px-2 py-4 text-center text-sm text-muted">No matches.</p>}
      </fieldset>
      {chosen.length > 0 && (
        <div className="mt-1 border-t border-line pt-1">
          <Button look="quiet" size="small" className="w-full" onClick={() => onChange([])}>
            Clear
          </Button>
        </div>
      )}
    </Popover>
  )
}

function Indent({ depth }: { depth: number }) {
  return <span aria-hidden="true" className="shrink-0" style={{ width: `${depth * 12}px` }} />
}

const searchFrom = 8
