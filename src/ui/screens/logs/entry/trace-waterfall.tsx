import { ChevronRight } from 'lucide-react'
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from 'react'
import { BlockIcon } from '../../../editor/canvas/block-icon.tsx'
import { classes } from '../../../parts/class-names.ts'
import { durationText } from '../../../parts/time-text.ts'
import { useVirtualRows } from '../../../parts/use-virtual-rows.ts'
import { barOf, linesOf, pathTo, type Span, spanLabel, type TraceLine } from './trace.ts'

const rowHeight = 30

/** The trace as bars over time. It is a single tab stop; arrow keys move, open and close. */
export function TraceWaterfall({
  spans,
  chosen,
  onChoose,
}: {
  spans: readonly Span[]
  chosen: string | undefined
  onChoose: (id: string) => void
}) {
  const tree = useId()
  const scroller = useRef<HTMLDivElement>(null)
  // Iterations of long loops start closed.
  const [turned, setTurned] = useState<ReadonlyMap<string, boolean>>(() => {
    const around = chosen === undefined ? [] : pathTo(spans, chosen).slice(0, -1)
    return new Map(around.map(({ id }) => [id, true]))
  })
  const lines = useMemo(
    () =>
      linesOf(
        spans,
        ({ id, type, children }) => turned.get(id) ?? (type !== 'iteration' && children.length <= openMax),
      ),
    [spans, turned],
  )
  const { from, to, height, scrollTo } = useVirtualRows(scroller, { count: lines.length, rowHeight })
  const at = lines.findIndex(({ span }) => span.id === chosen)
  const first = useRef(true)
  useEffect(() => {
    if (first.current && at > 0) scrollTo(at)
    first.current = false
  })
  const turn = (id: string, isOpen: boolean) => setTurned((before) => new Map(before).set(id, isOpen))
  const go = (index: number) => {
    const line = lines[Math.max(0, Math.min(lines.length - 1, index))]
    if (!line) return
    scrollTo(lines.indexOf(line))
    onChoose(line.span.id)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const line = lines[at]
    if (event.key === 'ArrowDown') go(at + 1)
    else if (event.key === 'ArrowUp') go(Math.max(0, at - 1))
    else if (event.key === 'Home') go(0)
    else if (event.key === 'End') go(lines.length - 1)
    else if (event.key === 'ArrowRight' && line) {
      if (line.span.children.length > 0 && !line.isOpen) turn(line.span.id, true)
      else go(at + 1)
    } else if (event.key === 'ArrowLeft' && line) {
      if (line.isOpen) turn(line.span.id, false)
      else if (line.parent) go(lines.findIndex(({ span }) => span.id === line.parent))
    } else return
    event.preventDefault()
  }
  const root = spans[0]
  if (!root) return <p className="px-4 py-6 text-sm text-muted">No trace is available for this run.</p>
  return (
    <div
      ref={scroller}
      role="tree"
      tabIndex={0}
      aria-label="Trace"
      aria-activedescendant={at === -1 ? undefined : `${tree}-${chosen}`}
      onKeyDown={onKeyDown}
      className="max-h-[42%] min-h-20 shrink-0 overflow-y-auto border-b border-line py-1 outline-offset-[-2px]"
    >
      <div role="presentation" className="relative" style={{ height: `${height}px` }}>
        {lines.slice(from, to).map((line, index) => (
          <Line
            key={line.span.id}
            id={`${tree}-${line.span.id}`}
            line={line}
            root={root}
            top={(from + index) * rowHeight}
            isChosen={line.span.id === chosen}
            onChoose={() => onChoose(line.span.id)}
            onTurn={() => turn(line.span.id, !line.isOpen)}
          />
        ))}
      </div>
    </div>
  )
}

function Line({
  id,
  line: { span, depth, isOpen },
  root,
  top,
  isChosen,
  onChoose,
  onTurn,
}: {
  id: string
  line: TraceLine
  root: Span
  top: number
  isChosen: boolean
  onChoose: () => void
  onTurn: () => void
}) {
  const { left, width } = barOf(span, root)
  const isSkipped = span.status === 'skipped'
  const hasMore = span.children.length > 0
  return (
    // biome-ignore lint/a11y/useFocusableInteractive lint/a11y/useKeyWithClickEvents: the tree has the focus and handles the keys
    <div
      id={id}
      role="treeitem"
      aria-level={depth + 1}
      aria-selected={isChosen}
      {...(hasMore ? { 'aria-expanded': isOpen } : {})}
      onClick={onChoose}
      style={{ transform: `translateY(${top}px)` }}
      className={classes(
        'absolute inset-x-0 top-0 flex h-7.5 cursor-default items-center gap-2 pr-4 text-sm select-none',
        isChosen ? 'bg-accent-soft' : 'hover:bg-hover',
      )}
    >
      <span
        className="flex w-[44%] min-w-0 shrink-0 items-center gap-1.5"
        style={{ paddingLeft: `${12 + depth * 14}px` }}
      >
        {/* biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/noStaticElementInteractions: arrow keys do the same */}
        <span
          className="flex size-4 shrink-0 items-center justify-center text-muted"
          onClick={(event) => {
            if (!hasMore) return
            event.stopPropagation()
            onTurn()
          }}
        >
          {hasMore && (
            <ChevronRight
              size={13}
              aria-hidden="true"
              className={classes('transition-transform duration-75', isOpen && 'rotate-90')}
            />
          )}
        </span>
        <StatusMark status={span.status} instead={span.pinned ? 'Pinned' : span.reused && 'Reused'} />
        {span.blockId !== null && span.type !== 'iteration' && <BlockIcon type={span.type} size="small" />}
        <span className={classes('truncate', isSkipped && 'text-muted line-through', depth === 0 && 'font-medium')}>
          {spanLabel(span)}
        </span>
      </span>
      <span className="relative h-full min-w-0 flex-1" aria-hidden="true">
        {!isSkipped && (
          <span
            className={classes(
              'absolute top-2.25 h-3 min-w-[3px] rounded-sm',
              span.reused || span.pinned ? 'bg-line-strong' : barLooks[span.status],
            )}
            style={{ left: `min(${left}%, calc(100% - 3px))`, width: `${width}%` }}
          />
        )}
      </span>
      <span className="w-16 shrink-0 text-right text-xs text-muted tabular-nums">{timeText(span)}</span>
    </div>
  )
}

const barLooks: Readonly<Record<Span['status'], string>> = {
  success: 'bg-accent opacity-75',
  error: 'bg-error',
  cancelled: 'bg-line-strong',
  skipped: 'bg-line-strong',
}

function timeText({ status, pinned, reused, duration }: Span): string {
  if (status === 'skipped') return 'skipped'
  if (pinned) return 'pinned'
  if (reused) return 'reused'
  return duration === null ? '' : durationText(duration)
}

/** `instead`: the reason why the block did not run. */
export function StatusMark({ status, instead }: { status: Span['status']; instead?: string | undefined }) {
  const looks = { success: 'bg-ok', error: 'bg-error', cancelled: 'bg-line-strong', skipped: 'bg-line-strong' }
  const words = { success: 'Succeeded', error: 'Failed', cancelled: 'Cancelled', skipped: 'Skipped' }
  return (
    <span
      role="img"
      aria-label={instead ?? words[status]}
      className={classes('size-2 shrink-0 rounded-full', instead ? 'bg-line-strong' : looks[status])}
    />
  )
}

const openMax = 60
