import { CircleAlert, CircleCheck, CircleSlash, FlaskConical, LoaderCircle, Pin, RotateCcw } from 'lucide-react'
import { useSyncExternalStore } from 'react'
import { useEditing } from '../editing.tsx'
import type { BlockRun } from '../run/block-run.ts'
import { duration } from './block-summary.ts'

export function useBlockRun(id: string): BlockRun | undefined {
  const { run } = useEditing()
  return useSyncExternalStore(run.watch, () => run.state().blocks.get(id))
}

/** The state of a block in the current run. */
export function RunMark({ run }: { run: BlockRun | undefined }) {
  if (!run) return null
  const { icon, words } = marks[run.status]
  const { executions, failures, status, duration: took, isAlone } = run
  const isPinned = run.pinned && status !== 'running'
  const isReused = run.reused && status !== 'running'
  const isMixed = status === 'error' && failures < executions
  return (
    <span
      className="flex shrink-0 flex-col items-end gap-0.5 text-2xs text-muted tabular-nums"
      title={
        isPinned
          ? 'Pinned: it did not run'
          : isReused
            ? 'Reused from an earlier run'
            : isMixed
              ? `Failed in ${failures} of ${executions} iterations`
              : words
      }
      data-alone={isAlone}
    >
      <span className="flex items-center gap-1">
        {isAlone && <FlaskConical size={12} className="text-accent-text" aria-label="Tried alone" />}
        {executions > 1 && <span>×{executions}</span>}
        {isPinned ? (
          <Pin size={14} className="text-muted" aria-label="Pinned: it did not run" />
        ) : isReused ? (
          <RotateCcw size={14} className="text-muted" aria-label="Reused from an earlier run" />
        ) : (
          icon
        )}
      </span>
      {took !== undefined && status !== 'skipped' && status !== 'running' && !isPinned && <span>{duration(took)}</span>}
    </span>
  )
}

const marks = {
  running: {
    icon: <LoaderCircle size={15} className="animate-spin text-accent" aria-label="Running" />,
    words: 'Running',
  },
  success: { icon: <CircleCheck size={15} className="text-ok" aria-label="Succeeded" />, words: 'Succeeded' },
  error: { icon: <CircleAlert size={15} className="text-error" aria-label="Failed" />, words: 'Failed' },
  skipped: { icon: <CircleSlash size={14} className="text-muted" aria-label="Skipped" />, words: 'Skipped' },
  cancelled: { icon: <CircleSlash size={14} className="text-warn" aria-label="Cancelled" />, words: 'Cancelled' },
}
