import { Fragment, type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { countOf } from './amount-text.ts'
import { classes } from './class-names.ts'
import { Keys } from './keys.tsx'

export type PickItem = {
  id: string
  label: string
  /** Consecutive items of a group are listed under its name. */
  group?: string | undefined
  /** Shown at the end of the line. */
  note?: string | undefined
  /** Shown under the label. */
  description?: string | undefined
  icon?: ReactNode
  keys?: string | undefined
  onPick: () => void
}

/** A text field with matching items below it. Arrow keys select, Enter picks. */
export function PickList({
  label,
  placeholder,
  icon,
  typed,
  onType,
  items,
  empty,
  progress,
}: {
  label: string
  placeholder: string
  icon?: ReactNode
  typed: string
  onType: (typed: string) => void
  items: readonly PickItem[]
  empty: string
  /** A search that still runs, or has failed. */
  progress?: string | undefined
}) {
  const id = useId()
  const [at, setAt] = useState(0)
  const list = useRef<HTMLDivElement>(null)
  const current = Math.min(at, items.length - 1)
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  })
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      const wraps = Math.abs(step) === 1
      const next = current + step
      setAt(wraps ? (next + items.length) % Math.max(items.length, 1) : Math.max(0, Math.min(items.length - 1, next)))
    } else if (event.key === 'Enter' && !event.nativeEvent.isComposing) {
      event.preventDefault()
      items[current]?.onPick()
    }
  }
  return (
    <>
      <div className="flex items-center gap-2.5 border-b border-line px-3.5 text-muted">
        {icon}
        <input
          // biome-ignore lint/a11y/noAutofocus: the list opens for typing
          autoFocus
          role="combobox"
          aria-label={label}
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-activedescendant={items.length > 0 ? `${id}-${current}` : undefined}
          autoComplete="off"
          spellCheck={false}
          placeholder={placeholder}
          value={typed}
          onChange={(event) => {
            onType(event.target.value)
            setAt(0)
          }}
          onKeyDown={onKeyDown}
          className="h-11 w-full bg-transparent text-sm text-text outline-none placeholder:text-muted"
        />
      </div>
      <div ref={list} id={`${id}-list`} role="listbox" aria-label={label} className="min-h-0 overflow-y-auto p-1.5">
        {groupsOf(items).map(({ name, from, items: members }) => {
          const rows = members.map((item, index) => (
            <PickRow
              key={item.id}
              id={`${id}-${from + index}`}
              item={item}
              selected={from + index === current}
              onPoint={() => setAt(from + index)}
            />
          ))
          if (name === undefined) return <Fragment key={from}>{rows}</Fragment>
          return (
            // biome-ignore lint/a11y/useSemanticElements: a list box has groups, not sets of fields
            <div key={from} role="group" aria-labelledby={`${id}-group-${from}`}>
              <div id={`${id}-group-${from}`} className="px-2.5 pt-2 pb-1 text-2xs font-medium text-muted">
                {name}
              </div>
              {rows}
            </div>
          )
        })}
        {items.length === 0 && <p className="px-2.5 py-6 text-center text-sm text-muted">{progress ?? empty}</p>}
      </div>
      <p
        role="status"
        className={progress && items.length > 0 ? 'border-t border-line px-4 py-1.5 text-xs text-muted' : 'sr-only'}
      >
        {progress ?? (typed.trim() === '' ? '' : countOf(items.length, 'result'))}
      </p>
    </>
  )
}

type Group = { name: string | undefined; from: number; items: PickItem[] }

/** Consecutive items with the same group; `from` is the position of the first one in the list. */
function groupsOf(items: readonly PickItem[]): Group[] {
  const groups: Group[] = []
  for (const [index, item] of items.entries()) {
    const last = groups.at(-1)
    if (last && last.name === item.group) last.items.push(item)
    else groups.push({ name: item.group, from: index, items: [item] })
  }
  return groups
}

function PickRow({
  id,
  item,
  selected,
  onPoint,
}: {
  id: string
  item: PickItem
  selected: boolean
  onPoint: () => void
}) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field above handles the keys
    <div
      id={id}
      role="option"
      aria-selected={selected}
      tabIndex={-1}
      onMouseMove={onPoint}
      onClick={item.onPick}
      className={classes(
        'flex min-h-8 cursor-default items-center gap-2.5 rounded-md px-2.5 py-1 text-sm select-none',
        selected && 'bg-hover',
      )}
    >
      {item.icon && <span className="flex size-4 shrink-0 items-center justify-center text-muted">{item.icon}</span>}
      <span className="min-w-0 flex-1">
        <span className="block truncate">{item.label}</span>
        {item.description && <span className="block truncate text-xs text-muted">{item.description}</span>}
      </span>
      {item.note && <span className="shrink-0 text-xs text-muted">{item.note}</span>}
      {item.keys && <Keys text={item.keys} />}
    </div>
  )
}
