import { Handle, type NodeProps, Position } from '@xyflow/react'
import { CornerDownRight } from 'lucide-react'
import { memo } from 'react'
import { classes } from '../../parts/class-names.ts'
import { portsOf } from '../document/document.ts'
import { useDraft, useEditing } from '../editing.tsx'
import { summaryOf } from './block-summary.ts'
import type { ContainerNode } from './canvas-nodes.ts'
import { CardHead, cardLook } from './card-head.tsx'
import { OutputPorts, PortHandle } from './port-handle.tsx'
import { useBlockRun } from './run-mark.tsx'

/** A loop or parallel: a frame around the blocks it repeats. Blocks can be dropped into it. */
export const ContainerCard = memo(function ContainerCard({ id, data: { block }, selected }: NodeProps<ContainerNode>) {
  const { draft } = useEditing()
  const run = useBlockRun(id)
  const isEmpty = useDraft(({ document }) => !Object.values(document.blocks).some(({ parentId }) => parentId === id))
  const ports = portsOf(block)
  const { text } = summaryOf(block, draft.state().document, () => undefined)
  return (
    <div
      className={classes(
        'group relative h-full w-full rounded-xl border-[1.5px] border-dashed border-line-strong bg-container/5',
        cardLook(run, selected, block.enabled === false),
      )}
    >
      <Handle type="target" id="target" position={Position.Left} className="port top-6.5!" />
      <CardHead block={block} detail={text} run={run} />
      <div className="near-only absolute top-16 left-3 flex h-7 items-center gap-1 rounded-md bg-raised px-2 text-2xs text-muted shadow-card">
        <CornerDownRight size={12} aria-hidden="true" />
        {ports.map(
          (port) =>
            port.kind === 'start' && <PortHandle key={port.handle} blockId={id} port={port} className="top-1/2!" />,
        )}
        Start
      </div>
      {isEmpty && (
        <p className="near-only absolute inset-x-0 bottom-6 text-center text-xs text-muted">
          Drop blocks here to repeat them.
        </p>
      )}
      <OutputPorts blockId={id} ports={ports} />
    </div>
  )
})
