import { useQuery } from '@tanstack/react-query'
import { Layers } from 'lucide-react'
import { lazy, Suspense, useCallback, useMemo, useState } from 'react'
import type { Document } from '../../../editor/document/document.ts'
import { executionQuery } from '../../../editor/editor-queries.ts'
import { Empty, Failed, Loading } from '../../../parts/states.tsx'
import type { LogDetail } from '../log-queries.ts'
import { SpanDetail } from './span-detail.tsx'
import { blockRuns, failedBlockOf, type Span, shownSpanOf } from './trace.ts'

// Loaded on demand: reading a trace does not need the canvas.
const FrozenCanvas = lazy(async () => ({
  default: (await import('../../../editor/canvas/frozen-canvas.tsx')).FrozenCanvas,
}))

/**
 * The workflow version that ran, with the state of each block. It opens at the block that failed. Clicking a block
 * shows its details.
 */
export function DeploymentView({ entry, spans }: { entry: LogDetail; spans: readonly Span[] }) {
  const { executionId, workflowId, workspaceId } = entry
  const failed = useMemo(() => failedBlockOf(spans), [spans])
  const [blockId, setBlockId] = useState(failed)
  const onSelect = useCallback((id: string | undefined) => setBlockId(id), [])
  const blocks = useMemo(() => blockRuns(spans), [spans])
  const { data, error, refetch } = useQuery(executionQuery(executionId))
  if (error) return <Failed error={error} retry={() => void refetch()} />
  if (!data) return <Loading />
  const document = data.workflowState as unknown as Pick<Document, 'blocks' | 'edges' | 'loops' | 'parallels'>
  if (Object.keys(document.blocks).length === 0) {
    return (
      <Empty icon={<Layers size={22} />} title="Version no longer available">
        The workflow version that ran has been deleted.
      </Empty>
    )
  }
  const span = blockId === undefined ? undefined : shownSpanOf(spans, blockId)
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="min-h-60 flex-1">
        <Suspense fallback={<Loading lines={4} />}>
          <FrozenCanvas
            workflowId={workflowId}
            workspaceId={workspaceId}
            document={document}
            blocks={blocks}
            onSelect={onSelect}
            focus={failed}
          />
        </Suspense>
      </div>
      {span && (
        <div className="max-h-[55%] shrink-0 overflow-y-auto border-t border-line">
          <SpanDetail key={span.id} span={span} executionId={executionId} />
        </div>
      )}
    </div>
  )
}
