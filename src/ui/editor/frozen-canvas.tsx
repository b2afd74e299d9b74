import { ReactFlowProvider } from '@xyflow/react'
import { useMemo } from 'react'
import { Loading } from '../parts/states.tsx'
import { Canvas } from './canvas.tsx'
import type { Document } from './document.ts'
import { Draft } from './draft.ts'
import { openDocument } from './edit.ts'
import { EditingProvider, useBlockTypes } from './editing.tsx'
import type { BlockRun } from './run/block-run.ts'
import { RunWatch } from './run/run-watch.ts'

/**
 * A workflow as it was when it ran, with how each block stood: to look at, not to change. It fills the box that it is in.
 * `onSelect` tells of the block that is clicked, undefined for none.
 */
export function FrozenCanvas({
  workflowId,
  workspaceId,
  document,
  blocks,
  onSelect,
}: {
  workflowId: string
  workspaceId: string
  document: Pick<Document, 'blocks' | 'edges' | 'loops' | 'parallels'>
  blocks: ReadonlyMap<string, BlockRun>
  onSelect?: (blockId: string | undefined) => void
}) {
  const types = useBlockTypes()
  const editing = useMemo(() => {
    const draft = new Draft(openDocument({ ...document, name: 'As it ran' }))
    if (onSelect) {
      draft.watch(() => {
        const [only] = draft.state().selected
        onSelect(only)
      })
    }
    return { workflowId, workspaceId, draft, run: RunWatch.ended(workflowId, blocks), readOnly: true }
  }, [workflowId, workspaceId, document, blocks, onSelect])
  if (!types) return <Loading lines={4} />
  return (
    <EditingProvider value={{ ...editing, types }}>
      <ReactFlowProvider>
        <Canvas onOffer={nothing} onAdd={nothing} showMap={false} />
      </ReactFlowProvider>
    </EditingProvider>
  )
}

function nothing(): void {
  // There is nothing to add to the past.
}
