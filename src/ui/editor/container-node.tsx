import { Handle, type NodeProps, Position } from '@xyflow/react'
import { CircleAlert, CornerDownRight } from 'lucide-react'
import { memo } from 'react'
import { classes } from '../parts/class-names.ts'
import { BlockIcon } from './block-look.tsx'
import { RunMark, useBlockRun } from './block-node.tsx'
import { summaryOf } from './block-summary.ts'
import type { ContainerNode } from './canvas-nodes.ts'
import { portsOf } from './document.ts'
import { useDraft, useEditing } from './editing.tsx'
import { useFindings } from './findings.tsx'
import { PortHandle } from './port-handle.tsx'

/** A loop or parallel: a frame around the blocks that it repeats. Blocks are dropped into it. */
export const ContainerCard = memo(function ContainerCard({ id, data: { block }, selected }: NodeProps<ContainerNode>) {
  const { draft } = useEditing()
  const run = useBlockRun(id)
  const findings = useFindings(id)
  const isEmpty = useDraft(({ document }) => !Object.values(document.blocks).some(({ parentId }) => parentId === id))
  const ports = portsOf(block)
  const { text } = summaryOf(block, draft.state().document, () => undefined)
  const isOff = block.enabled === false
  return (
    <div
      className={classes(
        'group relative h-full w-full rounded-xl border-[1.5px] border-dashed border-line-strong bg-container/5',
        selected && 'outline-2 outline-accent',
        isOff && 'opacity-55',
        run?.status === 'running' && 'running-card',
        run?.status === 'error' && !selected && 'outline-2 outline-error',
      )}
    >
      <Handle type="target" id="target" position={Position.Left} className="port top-6.5!" />
      <div className="flex items-center gap-2.5 px-3 pt-2.5">
        <BlockIcon type={block.type} />
        <div className="min-w-0 flex-1">
          <div className="flex items-center gap-1.5">
            <span className={classes('truncate text-sm font-semibold', isOff && 'line-through')}>{block.name}</span>
            {findings.length > 0 && (
              <CircleAlert
                size={13}
                className="shrink-0 text-error"
                aria-label={findings.map(({ message }) => message).join(' ')}
              />
            )}
          </div>
          <div className="truncate text-2xs text-muted">{text}</div>
        </div>
        <RunMark run={run} />
      </div>
      <div className="absolute top-16 left-3 flex h-7 items-center gap-1 rounded-md bg-raised px-2 text-2xs text-muted shadow-card">
        <CornerDownRight size={12} aria-hidden="true" />
        {ports.map(
          (port) =>
            port.kind === 'start' && <PortHandle key={port.handle} blockId={id} port={port} className="top-1/2!" />,
        )}
        Start
      </div>
      {isEmpty && (
        <p className="absolute inset-x-0 bottom-6 text-center text-xs text-muted">
          Drop blocks here: they are repeated.
        </p>
      )}
      {ports.map(
        (port) =>
          port.kind === 'source' && <PortHandle key={port.handle} blockId={id} port={port} className="top-6.5!" />,
      )}
      {ports.map((port) => port.kind === 'error' && <PortHandle key={port.handle} blockId={id} port={port} />)}
    </div>
  )
})
