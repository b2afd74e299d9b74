import { ReactFlowProvider, useNodesInitialized, useReactFlow } from '@xyflow/react'
import { useEffect, useMemo } from 'react'
import { Loading } from '../../parts/states.tsx'
import type { Document } from '../document/document.ts'
import { openDocument } from '../document/edit.ts'
import { EditingProvider, useBlockTypes } from '../editing.tsx'
import { HeldProblems } from '../held-problems.ts'
import type { BlockRun } from '../run/block-run.ts'
import { RunFocus } from '../run/run-focus.ts'
import { RunWatch } from '../run/run-watch.ts'
import { Draft } from '../save/draft.ts'
import { Canvas } from './canvas.tsx'
import { Portions } from './view/portions.ts'

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
  focus,
}: {
  workflowId: string
  workspaceId: string
  document: Pick<Document, 'blocks' | 'edges' | 'loops' | 'parallels'>
  blocks: ReadonlyMap<string, BlockRun>
  onSelect?: (blockId: string | undefined) => void
  /** The block that is selected and in view at first. */
  focus?: string | undefined
}) {
  const types = useBlockTypes()
  const editing = useMemo(() => {
    const draft = new Draft(openDocument({ ...document, name: 'As it ran' }))
    if (focus !== undefined) draft.select([focus])
    if (onSelect) {
      draft.watch(() => {
        const [only] = draft.state().selected
        onSelect(only)
      })
    }
    return {
      workflowId,
      workspaceId,
      draft,
      run: RunWatch.ended(workflowId, blocks),
      focus: new RunFocus(),
      held: new HeldProblems(draft),
      portions: new Portions(),
      readOnly: true,
    }
  }, [workflowId, workspaceId, document, blocks, onSelect, focus])
  if (!types) return <Loading lines={4} />
  return (
    <EditingProvider value={{ ...editing, types }}>
      <ReactFlowProvider>
        <Canvas onOffer={nothing} onAdd={nothing} showMap={false} />
        {focus !== undefined && <ShowBlock id={focus} />}
      </ReactFlowProvider>
    </EditingProvider>
  )
}

/** Moves the view to a block as soon as it is drawn. */
function ShowBlock({ id }: { id: string }) {
  const flow = useReactFlow()
  const isReady = useNodesInitialized()
  useEffect(() => {
    if (isReady) void flow.fitView({ nodes: [{ id }], maxZoom: 1, padding: 0.6 })
  }, [flow, id, isReady])
  return null
}

function nothing(): void {
  // A previous run cannot be changed.
}
