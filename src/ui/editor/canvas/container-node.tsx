import { Handle, type NodeProps, Position } from '@xyflow/react'
import { CornerDownRight } from 'lucide-react'
import { memo, useContext } from 'react'
import { classes } from '../../parts/class-names.ts'
import { type Block, portsOf } from '../document/document.ts'
import { useDraft, useEditing } from '../editing.tsx'
import { BlockVisitors } from '../together/block-visitors.tsx'
import { kindOf } from './block-icon.tsx'
import { summaryOf } from './block-summary.ts'
import type { ContainerNode } from './canvas-nodes.ts'
import { CardHead, cardLook } from './card-head.tsx'
import { CompactCard } from './compact-card.tsx'
import { OutputPorts, PortHandle } from './port-handle.tsx'
import { startBox } from './port-places.ts'
import { useBlockRun } from './run-mark.tsx'
import { IsFar } from './view/zoom-level.ts'

/** A loop or parallel: a frame around the blocks it repeats. Blocks can be dropped into it. */
export const ContainerCard = memo(function ContainerCard({ data, selected }: NodeProps<ContainerNode>) {
  return useContext(IsFar) ? (
    <CompactCard block={data.block} size={data.size} selected={selected} />
  ) : (
    <Frame block={data.block} selected={selected} />
  )
})

function Frame({ block, selected }: { block: Block; selected: boolean }) {
  const { id } = block
  const { draft } = useEditing()
  const run = useBlockRun(id)
  const isEmpty = useDraft(({ document }) => !Object.values(document.blocks).some(({ parentId }) => parentId === id))
  const ports = portsOf(block)
  const { text } = summaryOf(block, draft.state().document, () => undefined)
  return (
    <div
      data-kind={kindOf(block.type)}
      className={classes(
        'container-card group relative h-full w-full rounded-xl',
        cardLook(run, selected, block.enabled === false),
      )}
    >
      <Handle type="target" id="target" position={Position.Left} className="port top-6.5!" />
      <CardHead block={block} detail={text} run={run} />
      <div
        style={{ left: startBox.x, top: startBox.y, width: startBox.width, height: startBox.height }}
        className="absolute flex items-center gap-1 rounded-md bg-raised px-2 text-2xs text-muted shadow-block"
      >
        <CornerDownRight size={12} aria-hidden="true" />
        {ports.map(
          (port) =>
            port.kind === 'start' && <PortHandle key={port.handle} blockId={id} port={port} className="top-1/2!" />,
        )}
        Start
      </div>
      {isEmpty && (
        <p className="absolute inset-x-0 bottom-6 text-center text-xs text-muted">Drop blocks here to repeat them.</p>
      )}
      <OutputPorts blockId={id} ports={ports} />
      <BlockVisitors blockId={id} />
    </div>
  )
}
