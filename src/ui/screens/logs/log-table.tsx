import { type KeyboardEvent, type RefObject, useEffect, useId, useLayoutEffect, useRef } from 'react'
import { costText } from '../../parts/amount-text.ts'
import { classes } from '../../parts/class-names.ts'
import { Spinner } from '../../parts/spinner.tsx'
import { durationText, momentText } from '../../parts/time-text.ts'
import { useVirtualRows } from '../../parts/use-virtual-rows.ts'
import type { LogEntry } from './log-queries.ts'
import { statusLabels, statusMarks, triggerIcons, triggerLabels, versionText } from './log-texts.tsx'
import type { LogRows } from './use-log-rows.ts'

const rowHeight = 36
const headHeight = 32
/** The number of rows left below at which older entries are loaded. */
const loadAhead = 60

const columns =
  'grid grid-cols-[128px_minmax(0,1fr)_72px] @lg:grid-cols-[140px_minmax(0,1fr)_88px_28px_72px] @4xl:grid-cols-[160px_minmax(0,1fr)_132px_112px_92px_84px] items-center gap-x-3 px-4 md:px-6'

/**
 * The table of log entries. It draws only visible rows and loads older entries on demand. It is a single tab stop;
 * arrow keys move between entries.
 */
export function LogTable({
  found,
  nameOf,
  current,
  onPick,
  onOpen,
  scroller,
}: {
  found: LogRows
  nameOf: (workflowId: string) => string
  /** The id of the selected entry. */
  current: string | undefined
  /** `isStep`: selected with an arrow key, so no history entry is added. */
  onPick: (id: string, isStep: boolean) => void
  onOpen: (id: string) => void
  scroller: RefObject<HTMLDivElement | null>
}) {
  const { rows, hasMore, isLoadingMore, loadMore } = found
  const grid = useId()
  const { from, to, height, scrollTo } = useVirtualRows(scroller, { count: rows.length, rowHeight, headHeight })
  useEffect(() => {
    if (hasMore && to >= rows.length - loadAhead) loadMore()
  })
  useStillRows(scroller, rows)
  const at = rows.findIndex(({ id }) => id === current)
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / rowHeight) - 1)
    const steps: Record<string, number> = {
      ...{ ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: page, PageUp: -page },
      ...{ Home: -rows.length, End: rows.length },
    }
    const step = steps[event.key]
    if (step !== undefined && rows.length > 0) {
      event.preventDefault()
      const next = at === -1 ? 0 : Math.max(0, Math.min(rows.length - 1, at + step))
      scrollTo(next)
      onPick(rows[next]!.id, true)
    } else if ((event.key === 'Enter' || event.key === ' ') && current) {
      event.preventDefault()
      onOpen(current)
    }
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: rows that are not drawn cannot be part of a table
    <div
      ref={scroller}
      role="grid"
      tabIndex={0}
      aria-label="Log entries"
      aria-rowcount={hasMore ? -1 : rows.length + 1}
      aria-activedescendant={at === -1 ? undefined : `${grid}-${current}`}
      aria-busy={isLoadingMore}
      onKeyDown={onKeyDown}
      className="min-h-0 flex-1 @container overflow-y-auto outline-offset-[-2px] [overflow-anchor:none]"
    >
      <Head />
      {/* biome-ignore lint/a11y/useSemanticElements: see above */}
      <div role="rowgroup" className="relative" style={{ height: `${height}px` }}>
        {rows.slice(from, to).map((entry, index) => (
          <EntryRow
            key={entry.id}
            id={`${grid}-${entry.id}`}
            entry={entry}
            index={from + index}
            name={nameOf(entry.workflowId)}
            isCurrent={entry.id === current}
            onPick={onPick}
          />
        ))}
      </div>
      {isLoadingMore && (
        <div className="late flex h-10 items-center justify-center gap-2 text-xs text-muted">
          <Spinner /> Loading older entries…
        </div>
      )}
    </div>
  )
}

function Head() {
  const head = 'text-xs font-medium text-muted'
  return (
    // biome-ignore lint/a11y/useSemanticElements: see above
    <div role="rowgroup" className="sticky top-0 z-10 border-b border-line bg-bg">
      {/* biome-ignore lint/a11y/useSemanticElements: see above */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus */}
      <div role="row" aria-rowindex={1} className={classes(columns, 'h-8')}>
        {heads.map((label, index) => (
          // biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: see above
          <span key={label} role="columnheader" className={classes(head, headLooks[index])}>
            {label}
          </span>
        ))}
      </div>
    </div>
  )
}

const heads = ['Time', 'Workflow', 'Version', 'Trigger', 'Duration', 'Cost']

/** Narrow tables show only the columns that tell runs apart. */
const headLooks = [
  '',
  '',
  'sr-only @lg:not-sr-only',
  'sr-only @lg:not-sr-only @lg:invisible @4xl:visible',
  'text-right',
  'hidden text-right @4xl:block',
]

function EntryRow({
  id,
  entry,
  index,
  name,
  isCurrent,
  onPick,
}: {
  id: string
  entry: LogEntry
  index: number
  name: string
  isCurrent: boolean
  onPick: (id: string, isStep: boolean) => void
}) {
  const { status, trigger, startedAt, totalDurationMs, cost } = entry
  return (
    // biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive lint/a11y/useKeyWithClickEvents: see above
    <div
      id={id}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isCurrent}
      onClick={() => onPick(entry.id, false)}
      style={{ transform: `translateY(${index * rowHeight}px)` }}
      className={classes(
        columns,
        'absolute inset-x-0 top-0 h-9 cursor-default border-b border-line text-sm select-none',
        isCurrent ? 'bg-accent-soft' : 'hover:bg-hover',
      )}
    >
      <Cell className="flex items-center gap-2.5">
        <span
          role="img"
          aria-label={statusLabels[status]}
          className={classes('h-4 w-1 shrink-0 rounded-full', statusMarks[status])}
        />
        <time dateTime={startedAt} className="truncate text-muted tabular-nums">
          {momentText(Date.parse(startedAt))}
        </time>
      </Cell>
      <Cell className="flex min-w-0 items-baseline gap-2">
        {/* The name takes the whole width when nothing else is said about the run. */}
        <span
          className={classes(
            'shrink-0 truncate font-medium not-only:max-w-[60%] only:max-w-full',
            status === 'error' && 'text-error-text',
          )}
        >
          {name}
        </span>
        <About entry={entry} />
      </Cell>
      <Cell className="hidden min-w-0 truncate text-xs text-muted @lg:block" title={versionText(entry)}>
        {versionText(entry)}
      </Cell>
      <Cell className="hidden items-center gap-1.5 text-muted @lg:flex">
        {triggerIcons[trigger]}
        <span className="sr-only @4xl:not-sr-only">{triggerLabels[trigger]}</span>
      </Cell>
      <Cell className="text-right tabular-nums">{durationText(totalDurationMs)}</Cell>
      <Cell className="hidden text-right text-muted tabular-nums @4xl:block">
        {cost.total > 0 ? costText(cost.total) : '–'}
      </Cell>
    </div>
  )
}

/** The reason for a failure, and what distinguishes a run from others of its workflow. */
function About({ entry: { status, error, partial, labels } }: { entry: LogEntry }) {
  const why = status === 'success' ? undefined : error
  const message = why?.message.split('\n')[0]
  const marks = [partial ? 'in part' : undefined, ...Object.entries(labels).map(([name, text]) => `${name}: ${text}`)]
  const shown = marks.filter((mark) => mark !== undefined)
  return (
    <>
      {why && (
        <span className="min-w-0 truncate text-xs text-muted" title={why.message}>
          {why.blockName && <span className="font-medium">{why.blockName}: </span>}
          {message}
        </span>
      )}
      {shown.length > 0 && (
        <span className="hidden min-w-0 shrink-[2] truncate text-xs text-muted @lg:block" title={shown.join(', ')}>
          {shown.map((mark) => (
            <span key={mark} className="mr-1 rounded-sm bg-sunken px-1 py-0.5">
              {mark}
            </span>
          ))}
        </span>
      )}
    </>
  )
}

function Cell({ className, title, children }: { className: string; title?: string; children: React.ReactNode }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: see above
    <span role="gridcell" className={className} title={title}>
      {children}
    </span>
  )
}

/** Keeps the visible rows in place while new entries arrive above them. */
function useStillRows(scroller: RefObject<HTMLElement | null>, rows: readonly LogEntry[]): void {
  const first = useRef(rows[0]?.id)
  useLayoutEffect(() => {
    const before = first.current
    first.current = rows[0]?.id
    const element = scroller.current
    if (!element || before === undefined || before === rows[0]?.id || element.scrollTop < rowHeight) return
    const added = rows.findIndex(({ id }) => id === before)
    if (added > 0) element.scrollTop += added * rowHeight
  }, [rows, scroller])
}
