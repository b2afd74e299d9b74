import { ReactFlowProvider } from '@xyflow/react'
import { useMemo } from 'react'
import { Loading } from '../../parts/states.tsx'
import type { Document } from '../document/document.ts'
import { openDocument } from '../document/edit.ts'
import { EditingProvider, useBlockTypes } from '../editing.tsx'
import type { BlockRun } from '../run/block-run.ts'
import { RunWatch } from '../run/run-watch.ts'
import { Draft } from '../save/draft.ts'
import { Canvas } from './canvas.tsx'

/**
 * A read-only canvas of a workflow as it ran, with the state of each block. It fills its container. `onSelect` receives
 * the selected block, or undefined.
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
  // A previous run cannot be changed.
}
