import { Handle, type NodeProps, Position } from '@xyflow/react'
import { CircleAlert, CircleCheck, CircleSlash, LoaderCircle, RotateCcw } from 'lucide-react'
import { memo, useSyncExternalStore } from 'react'
import { classes } from '../parts/class-names.ts'
import { BlockIcon } from './block-look.tsx'
import { branchText, duration, summaryOf } from './block-summary.ts'
import type { BlockNode } from './canvas-nodes.ts'
import { isTrigger, portsOf } from './document.ts'
import { useEditing, useWorkflowNames } from './editing.tsx'
import { useFindings } from './findings.tsx'
import { PortHandle } from './port-handle.tsx'
import type { BlockRun } from './run/run-watch.ts'

/** A block on the canvas: what it is, what it does, how it stands in the run, and its ways in and out. */
export const BlockCard = memo(function BlockCard({ id, data: { block }, selected }: NodeProps<BlockNode>) {
  const { draft, types } = useEditing()
  const names = useWorkflowNames()
  const run = useBlockRun(id)
  const findings = useFindings(id)
  const ports = portsOf(block)
  const branches = ports.filter(({ kind }) => kind === 'branch')
  const isOff = block.enabled === false
  const { text, mono } = summaryOf(block, draft.state().document, (workflowId) => names.get(workflowId))
  const label = types.get(block.type)?.label ?? block.type
  return (
    <div
      className={classes(
        'group relative w-56 rounded-xl bg-raised shadow-card transition-shadow',
        selected && 'outline-2 outline-accent',
        isOff && 'opacity-55',
        run?.status === 'running' && 'running-card',
        run?.status === 'error' && !selected && 'outline-2 outline-error',
        run?.status === 'success' && !selected && 'outline-[1.5px] outline-ok',
      )}
    >
      {!isTrigger(block) && <Handle type="target" id="target" position={Position.Left} className="port top-6.5!" />}
      <div className="flex items-center gap-2.5 px-3 pt-2.5 pb-2.5">
        <BlockIcon type={block.type} />
        <div className="min-w-0 flex-1">
          <div className="flex items-center gap-1.5">
            <span className={classes('truncate text-sm font-semibold', isOff && 'line-through')}>{block.name}</span>
            {findings.length > 0 && (
              <CircleAlert
                size={13}
                aria-label={findings.map(({ message }) => message).join(' ')}
                className={classes(
                  'shrink-0',
                  findings.some(({ level }) => level === 'error') ? 'text-error' : 'text-warn',
                )}
              />
            )}
          </div>
          <div className="truncate text-2xs text-muted">{isOff ? `${label} · disabled` : label}</div>
        </div>
        <RunMark run={run} />
      </div>
      {text !== '' && (
        <div className="border-t border-line px-3 py-1.5">
          <div className={classes('truncate text-xs text-muted', mono && 'font-mono text-2xs')}>{text}</div>
        </div>
      )}
      {branches.map((port) => (
        <div key={port.handle} className="relative flex h-7 items-center border-t border-line px-3">
          <span className="min-w-0 flex-1 truncate font-mono text-2xs text-muted">
            {branchText(block, port.handle)}
          </span>
          <PortHandle blockId={id} port={port} className="top-1/2!" />
        </div>
      ))}
      {ports.map(
        (port) =>
          port.kind === 'source' && <PortHandle key={port.handle} blockId={id} port={port} className="top-6.5!" />,
      )}
      {ports.map((port) => port.kind === 'error' && <PortHandle key={port.handle} blockId={id} port={port} />)}
    </div>
  )
})

export function useBlockRun(id: string): BlockRun | undefined {
  const { run } = useEditing()
  return useSyncExternalStore(run.watch, () => run.state().blocks.get(id))
}

/** How a block stands in the run that is watched. */
export function RunMark({ run }: { run: BlockRun | undefined }) {
  if (!run) return null
  const { icon, words } = marks[run.status]
  return (
    <span
      className="flex shrink-0 flex-col items-end gap-0.5 text-2xs text-muted tabular-nums"
      title={run.reused ? 'Taken from an earlier run' : words}
    >
      <span className="flex items-center gap-1">
        {run.passes > 1 && <span>×{run.passes}</span>}
        {run.reused ? <RotateCcw size={14} className="text-muted" aria-label="Taken from an earlier run" /> : icon}
      </span>
      {run.duration !== undefined && run.status !== 'skipped' && <span>{duration(run.duration)}</span>}
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
