import { useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { IconButton } from '../../parts/button.tsx'
import { Failed, Loading } from '../../parts/states.tsx'
import { BlockIcon } from '../canvas/block-icon.tsx'
import { FrozenCanvas } from '../canvas/frozen-canvas.tsx'
import { useDraft, useEditing } from '../editing.tsx'
import { type Finding, Findings } from '../findings.tsx'
import { BlockForm } from '../inspector/block-form.tsx'
import type { BlockRun } from '../run/block-run.ts'
import { versionDocumentQuery } from './version-queries.ts'

/** The canvas of a version, which cannot be changed, with the settings of the selected block. */
export function VersionPreview({ version }: { version: number }) {
  const { workflowId, workspaceId } = useEditing()
  const { data, error, refetch } = useQuery(versionDocumentQuery(workflowId, version))
  if (error) return <Failed error={error} retry={() => void refetch()} />
  if (!data) return <Loading lines={4} />
  return (
    <section aria-label={`Preview of version ${version}`} className="flex flex-col gap-2 p-3">
      <h3 className="px-1 text-sm font-medium">Version {version}</h3>
      <div className="relative h-[52vh] min-h-60 overflow-hidden rounded-lg border border-line">
        {/* The problems of the draft are not those of this version. */}
        <Findings value={noFindings}>
          <FrozenCanvas workflowId={workflowId} workspaceId={workspaceId} document={data} blocks={noRuns}>
            <SelectedSettings />
          </FrozenCanvas>
        </Findings>
      </div>
    </section>
  )
}

function SelectedSettings() {
  const { draft, types } = useEditing()
  const block = useDraft(({ selected, document }) => {
    const [only] = selected
    return only === undefined || selected.size > 1 ? undefined : document.blocks[only]
  })
  if (!block) return null
  return (
    <aside
      aria-label={`Settings of ${block.name}`}
      className="absolute inset-y-0 right-0 z-20 w-80 max-w-full overflow-y-auto border-l border-line bg-surface p-3"
    >
      <header className="flex items-center gap-2 pb-3">
        <BlockIcon type={block.type} size="small" />
        <div className="min-w-0 flex-1">
          <h4 className="truncate text-sm font-semibold">{block.name}</h4>
          <p className="text-xs text-muted">{types.get(block.type)?.label ?? block.type}</p>
        </div>
        <IconButton label="Close" size="small" icon={<X size={15} />} onClick={() => draft.select([])} />
      </header>
      <div key={block.id} className="flex flex-col gap-4">
        <BlockForm blockId={block.id} />
      </div>
    </aside>
  )
}

const noFindings: readonly Finding[] = []
const noRuns: ReadonlyMap<string, BlockRun> = new Map()
