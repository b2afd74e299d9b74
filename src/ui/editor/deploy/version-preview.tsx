import { useQuery } from '@tanstack/react-query'
import { Failed, Loading } from '../../parts/states.tsx'
import { FrozenCanvas } from '../canvas/frozen-canvas.tsx'
import { useEditing } from '../editing.tsx'
import { type Finding, Findings } from '../findings.tsx'
import type { BlockRun } from '../run/block-run.ts'
import { versionDocumentQuery } from './version-queries.ts'

/** The canvas of a version, which cannot be changed. */
export function VersionPreview({ version }: { version: number }) {
  const { workflowId, workspaceId } = useEditing()
  const { data, error, refetch } = useQuery(versionDocumentQuery(workflowId, version))
  if (error) return <Failed error={error} retry={() => void refetch()} />
  if (!data) return <Loading lines={4} />
  return (
    <section aria-label={`Preview of version ${version}`} className="flex flex-col gap-2 p-3">
      <h3 className="px-1 text-sm font-medium">Version {version}</h3>
      <div className="h-[52vh] min-h-60 overflow-hidden rounded-lg border border-line">
        {/* The problems of the draft are not those of this version. */}
        <Findings value={noFindings}>
          <FrozenCanvas workflowId={workflowId} workspaceId={workspaceId} document={data} blocks={noRuns} />
        </Findings>
      </div>
    </section>
  )
}

const noFindings: readonly Finding[] = []
const noRuns: ReadonlyMap<string, BlockRun> = new Map()
