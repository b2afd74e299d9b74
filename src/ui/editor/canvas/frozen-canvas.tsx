import { ReactFlowProvider, useNodesInitialized, useReactFlow, useStoreApi } from '@xyflow/react'
import { Maximize, ZoomIn, ZoomOut } from 'lucide-react'
import { type ReactNode, useEffect, useMemo } from 'react'
import { IconButton } from '../../parts/button.tsx'
import { Loading } from '../../parts/states.tsx'
import type { Document } from '../document/document.ts'
import { openDocument } from '../document/edit.ts'
import { viewActions } from '../document/view-actions.ts'
import { EditingProvider, useBlockTypes, useEditing } from '../editing.tsx'
import { HeldProblems } from '../held-problems.ts'
import type { BlockRun } from '../run/block-run.ts'
import { RunFocus } from '../run/run-focus.ts'
import { RunWatch } from '../run/run-watch.ts'
import { Draft } from '../save/draft.ts'
import { Canvas } from './canvas.tsx'
import type { CanvasNode } from './canvas-nodes.ts'
import { Portions } from './view/portions.ts'

/**
 * A read-only canvas of a workflow as it ran, with the state of each block. It fills its container. `onSelect` receives
 * the selected block, or undefined. `children` may read the document like parts of the editor.
 */
export function FrozenCanvas({
  workflowId,
  workspaceId,
  document,
  blocks,
  onSelect,
  focus,
  children,
}: {
  workflowId: string
  workspaceId: string
  document: Pick<Document, 'blocks' | 'edges' | 'loops' | 'parallels'>
  blocks: ReadonlyMap<string, BlockRun>
  onSelect?: (blockId: string | undefined) => void
  /** The block that is selected and in view at first. */
  focus?: string | undefined
  children?: ReactNode
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
        <div className="relative size-full">
          <Canvas onOffer={nothing} onAdd={nothing} showMap={false} />
          <ViewButtons />
        </div>
        {focus !== undefined && <ShowBlock id={focus} />}
      </ReactFlowProvider>
      {children}
    </EditingProvider>
  )
}

function ViewButtons() {
  const { draft, portions } = useEditing()
  const flow = useReactFlow<CanvasNode>()
  const store = useStoreApi()
  const { zoomOut, zoomIn, fit } = viewActions(draft, flow, store, portions)
  return (
    <div className="absolute bottom-2 left-2 z-10 flex gap-0.5 rounded-lg bg-surface p-0.5 shadow-card">
      <IconButton label="Zoom out" size="small" side="top" icon={<ZoomOut size={15} />} onClick={zoomOut} />
      <IconButton label="Zoom in" size="small" side="top" icon={<ZoomIn size={15} />} onClick={zoomIn} />
      <IconButton label="Fit to view" size="small" side="top" icon={<Maximize size={14} />} onClick={fit} />
    </div>
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
