import { ChevronDown, ChevronUp, X } from 'lucide-react'
import {
  type KeyboardEvent,
  type PointerEvent,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import { Badge } from '../../parts/badge.tsx'
import { IconButton } from '../../parts/button.tsx'
import { classes } from '../../parts/class-names.ts'
import { Spinner } from '../../parts/spinner.tsx'
import { remember, remembered } from '../../shell/browser-memory.ts'
import { BlockIcon } from '../canvas/block-icon.tsx'
import { duration } from '../canvas/block-summary.ts'
import type { Actions } from '../document/actions.ts'
import { useDraft, useEditing } from '../editing.tsx'
import type { DraftState } from '../save/draft.ts'
import { MakeTest } from '../tests/make-test.tsx'
import { iterationText } from './block-run.ts'
import { EntryDetail, RunOutcome } from './entry-detail.tsx'
import { entryLines } from './entry-lines.ts'
import { entryOnCanvas, passOf } from './passes.ts'
import type { Pass } from './run-focus.ts'
import type { RunEntry, RunState } from './run-state.ts'
import type { Runs } from './use-runs.ts'

const storageKey = 'millrace.console-height'
const heights = { min: 120, normal: 264, max: 700 }

/** The progress and results of the manual run, block by block. */
export function Console({ actions, runs, onTests }: { actions: Actions; runs: Runs; onTests: () => void }) {
  const { run, focus, draft, workflowId, readOnly } = useEditing()
  const state = useSyncExternalStore(run.watch, run.state)
  const { pass } = useSyncExternalStore(focus.watch, focus.state)
  const selected = useDraft(onlySelected)
  const [height, setHeight] = useState(() => Number(remembered(storageKey)) || heights.normal)
  const [chosenOpen, setOpen] = useState<boolean>()
  // A run restored on opening the workflow starts collapsed, so that it does not cover the canvas.
  const isOpen = chosenOpen ?? !state.isPast
  const entry = useMemo(() => shownLine(state, selected, pass), [state, selected, pass])
  const onChoose = (one: RunEntry | undefined) => {
    if (!one || state.executionId === undefined) return draft.select([])
    const { spanId, iterations } = one
    focus.choosePass({ executionId: state.executionId, spanId, iterations })
    const shown = entryOnCanvas(state.entries, one)
    if (shown && draft.state().document.blocks[shown.blockId]) actions.goTo(shown.blockId)
    else draft.select([])
  }
  const resize = (next: number) => {
    const bounded = Math.max(heights.min, Math.min(heights.max, innerHeight - 220, next))
    setHeight(bounded)
    remember(storageKey, String(Math.round(bounded)))
  }
  return (
    <section
      aria-label="Console"
      className="relative flex shrink-0 flex-col border-t border-line bg-surface"
      style={{ height: isOpen ? height : undefined }}
    >
      {isOpen && <Grip height={height} onResize={resize} />}
      <header className="flex h-9 shrink-0 items-center gap-2 border-b border-line pr-1.5 pl-3">
        <h2 className="text-xs font-semibold">Run</h2>
        <PhaseBadge state={state} />
        <span className="flex-1" />
        {!readOnly && state.executionId !== undefined && hasEnded(state) && (
          <MakeTest workflowId={workflowId} executionId={state.executionId} onShow={onTests} />
        )}
        <IconButton
          label={isOpen ? 'Collapse console' : 'Expand console'}
          icon={isOpen ? <ChevronDown size={16} /> : <ChevronUp size={16} />}
          size="small"
          side="top"
          onClick={() => setOpen(!isOpen)}
        />
        <IconButton label="Close console" icon={<X size={15} />} size="small" side="top" onClick={runs.clear} />
      </header>
      {isOpen && (
        <div className="@container flex min-h-0 flex-1">
          <EntryList state={state} chosen={entry?.spanId} onChoose={onChoose} />
          <div className="min-w-0 flex-1 overflow-auto">
            {entry ? (
              <EntryDetail
                entry={entry}
                executionId={state.executionId}
                isErrorElsewhere={entry.depth === 0 && entry.blockId === selected}
              />
            ) : (
              <RunOutcome state={state} onGo={actions.goTo} />
            )}
          </div>
        </div>
      )}
    </section>
  )
}

function hasEnded({ phase }: RunState): boolean {
  return phase === 'success' || phase === 'error'
}

/** The selected block, if it is the only one. */
function onlySelected({ selected, document }: DraftState): string | undefined {
  const [only] = selected
  return selected.size === 1 && only !== undefined && document.blocks[only] ? only : undefined
}

/** The line of the selected block. A chosen line inside a called workflow belongs to the block that called it. */
function shownLine(state: RunState, selected: string | undefined, pass: Pass | undefined): RunEntry | undefined {
  const isOfRun = pass !== undefined && pass.executionId === state.executionId
  const chosen = isOfRun ? state.entries.find(({ spanId }) => spanId === pass.spanId) : undefined
  const above = chosen && entryOnCanvas(state.entries, chosen)
  if (chosen && above?.blockId === selected) return chosen
  if (selected === undefined) return undefined
  return passOf({ ...state, before: undefined }, selected, pass)
}

function Grip({ height, onResize }: { height: number; onResize: (height: number) => void }) {
  const from = useRef<{ y: number; height: number }>(undefined)
  const onPointerDown = (event: PointerEvent<HTMLElement>) => {
    event.currentTarget.setPointerCapture(event.pointerId)
    from.current = { y: event.clientY, height }
  }
  const onPointerMove = (event: PointerEvent) => {
    if (from.current) onResize(from.current.height + from.current.y - event.clientY)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowUp: 24, ArrowDown: -24 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    onResize(height + step)
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: there is no element for a movable separator
    <div
      role="separator"
      aria-orientation="horizontal"
      aria-label="Console height"
      aria-valuenow={Math.round(height)}
      aria-valuemin={heights.min}
      aria-valuemax={heights.max}
      tabIndex={0}
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={() => {
        from.current = undefined
      }}
      onKeyDown={onKeyDown}
      className="absolute inset-x-0 -top-1 z-10 h-2 cursor-row-resize touch-none hover:bg-accent/30"
    />
  )
}

function PhaseBadge({ state }: { state: RunState }) {
  switch (state.phase) {
    case 'starting':
    case 'running':
      return (
        <Badge tone="accent">
          <Spinner size={11} /> Running
        </Badge>
      )
    case 'success':
      return <Badge tone="ok">Succeeded in {duration(state.duration ?? 0)}</Badge>
    case 'error':
      return (
        <Badge tone="error">Failed{state.duration === undefined ? '' : ` after ${duration(state.duration)}`}</Badge>
      )
    case 'cancelled':
      return <Badge tone="warn">Cancelled</Badge>
    case 'idle':
      return null
  }
}

function EntryList({
  state,
  chosen,
  onChoose,
}: {
  state: RunState
  chosen: string | undefined
  onChoose: (entry: RunEntry | undefined) => void
}) {
  const list = useRef<HTMLUListElement>(null)
  const isAtEnd = useRef(true)
  const count = state.entries.length
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls as the list grows
  useEffect(() => {
    if (isAtEnd.current) list.current?.scrollTo({ top: list.current.scrollHeight })
  }, [count])
  const lines = useMemo(() => entryLines(state.entries, shownMax), [state.entries])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the chosen line comes into view
  useEffect(() => {
    list.current?.querySelector('[aria-pressed=true]')?.scrollIntoView({ block: 'nearest' })
  }, [chosen])
  return (
    <ul
      ref={list}
      aria-label="Blocks that ran"
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        isAtEnd.current = scrollTop + clientHeight > scrollHeight - 30
      }}
      className="w-64 shrink-0 overflow-y-auto border-r border-line p-1.5 @max-lg:w-40"
    >
      <li>
        <button
          type="button"
          aria-pressed={chosen === undefined}
          onClick={() => onChoose(undefined)}
          className={rowLook}
        >
          <span className="font-medium">Result</span>
        </button>
      </li>
      {count + state.earlier > lines.length && (
        <li className="px-2 py-1 text-xs text-muted">
          {count + state.earlier - lines.length} earlier entries
          {state.earlier > 0 && '; the log has all of them'}
        </li>
      )}
      {lines.map(({ entry, level }) => (
        <li key={entry.spanId}>
          <button
            type="button"
            aria-pressed={chosen === entry.spanId}
            onClick={() => onChoose(entry)}
            className={rowLook}
            style={{ paddingLeft: 8 + 12 * level }}
          >
            <BlockIcon type={entry.type} size="small" />
            <span className="min-w-0 flex-1 truncate">{entry.name}</span>
            {entry.iterations.length > 0 && (
              <span className="text-2xs text-muted tabular-nums">{iterationText(entry.iterations)}</span>
            )}
            <EntryStatus entry={entry} />
          </button>
        </li>
      ))}
    </ul>
  )
}

/** Maximum number of rows drawn; nobody reads a thousand iterations. */
const shownMax = 400

const rowLook = classes(
  'flex h-7 w-full cursor-default items-center gap-2 rounded-md px-2 text-left text-xs outline-offset-[-2px] hover:bg-hover',
  'aria-pressed:bg-accent-soft aria-pressed:text-accent-text',
)

function EntryStatus({ entry }: { entry: RunEntry }) {
  if (entry.status === 'running') return <Spinner size={12} className="text-accent" />
  const look = { success: 'text-muted', error: 'text-error-text', skipped: 'text-muted', cancelled: 'text-warn-text' }[
    entry.status
  ]
  const text = {
    success: entry.span?.pinned ? 'pinned' : entry.span?.reused ? 'reused' : duration(entry.span?.duration ?? 0),
    error: 'failed',
    skipped: 'skipped',
    cancelled: 'cancelled',
  }[entry.status]
  return <span className={classes('text-2xs tabular-nums', look)}>{text}</span>
}
