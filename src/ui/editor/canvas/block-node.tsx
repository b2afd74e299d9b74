import { Handle, type NodeProps, Position } from '@xyflow/react'
import { memo, useContext } from 'react'
import { classes } from '../../parts/class-names.ts'
import { type Block, isTrigger, portsOf } from '../document/document.ts'
import { useEditing, useWorkflowNames } from '../editing.tsx'
import { BlockVisitors } from '../together/block-visitors.tsx'
import { branchLabel, branchText, lineChars, summaryOf } from './block-summary.ts'
import type { BlockNode } from './canvas-nodes.ts'
import { CardHead, cardLook } from './card-head.tsx'
import { CompactCard } from './compact-card.tsx'
import { OutputPorts, PortHandle } from './port-handle.tsx'
import { useBlockRun } from './run-mark.tsx'
import { shortExpression } from './text/short-text.ts'
import { IsFar } from './view/zoom-level.ts'
import { WaitingMark } from './waiting-mark.tsx'

/** A block on the canvas: its name, summary, state in the run, and ports. */
export const BlockCard = memo(function BlockCard({ data: { block, size }, selected }: NodeProps<BlockNode>) {
  return useContext(IsFar) ? (
    <CompactCard block={block} size={size} selected={selected} />
  ) : (
    <FullCard block={block} selected={selected} />
  )
})

function FullCard({ block, selected }: { block: Block; selected: boolean }) {
  const { id } = block
  const { types } = useEditing()
  const run = useBlockRun(id)
  const ports = portsOf(block)
  const isOff = block.enabled === false
  const label = [types.get(block.type)?.label ?? block.type, block.type === 'placeholder' && block.origin?.type]
    .filter(Boolean)
    .join(' · ')
  return (
    <div
      className={classes(
        'group relative w-56 rounded-xl bg-raised shadow-block transition-shadow',
        block.type === 'placeholder' && !selected && 'outline-2 outline-warn outline-dashed',
        cardLook(run, selected, isOff),
      )}
    >
      {!isTrigger(block) && <Handle type="target" id="target" position={Position.Left} className="port top-6.5!" />}
      <CardHead block={block} detail={isOff ? `${label} · disabled` : label} run={run} />
      {block.type === 'workflow' ? <NamedSummary block={block} /> : <SummaryRow block={block} nameOf={noName} />}
      {ports.map(
        (port) =>
          port.kind === 'branch' && (
            <div key={port.handle} className="relative flex h-7 items-center border-t border-line px-3">
              <BranchRow block={block} handle={port.handle} />
              <PortHandle blockId={id} port={port} className="top-1/2!" />
            </div>
          ),
      )}
      <OutputPorts blockId={id} ports={ports} />
      <BlockVisitors blockId={id} />
      <WaitingMark block={block} />
    </div>
  )
}

function BranchRow({ block, handle }: { block: Block; handle: string }) {
  const { name, text } = branchLabel(block, handle)
  const room = Math.max(lineChars - (name === '' ? 0 : Math.min(name.length, nameChars) + 1), nameChars)
  return (
    <span title={branchText(block, handle)} className="flex min-w-0 flex-1 gap-1.5 text-2xs">
      {name !== '' && <span className="max-w-2/5 shrink-0 truncate font-medium">{name}</span>}
      <span className="min-w-0 truncate font-mono text-muted">{shortExpression(text, room)}</span>
    </span>
  )
}

/** The characters of a branch's name that fit beside its expression. */
const nameChars = 12

/** Loads workflow names only when the canvas contains a Workflow block. */
function NamedSummary({ block }: { block: Block }) {
  const names = useWorkflowNames()
  return <SummaryRow block={block} nameOf={(workflowId) => names.get(workflowId)} />
}

function SummaryRow({ block, nameOf }: { block: Block; nameOf: (workflowId: string) => string | undefined }) {
  const { draft } = useEditing()
  const { text, mono, whole } = summaryOf(block, draft.state().document, nameOf)
  if (text === '') return null
  return (
    <div className="border-t border-line px-3 py-1.5">
      <div title={whole} className={classes('truncate text-xs text-muted', mono && 'font-mono text-2xs')}>
        {text}
      </div>
    </div>
  )
}

function noName(): undefined {
  return undefined
}
