import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ArrowLeft, Layers } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { call } from '../../api/call.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Empty, Failed, Loading } from '../../parts/states.tsx'
import { useToast } from '../../parts/toast.tsx'
import { useEditing } from '../editing.tsx'
import type { Autosave } from '../save/autosave.ts'
import { CompareView, type Side } from './compare-view.tsx'
import { refreshVersions, type Version, versionDocumentQuery, versionsQuery } from './version-queries.ts'
import { VersionRow } from './version-row.tsx'

const VersionPreview = lazy(async () => ({ default: (await import('./version-preview.tsx')).VersionPreview }))

type Shown = { kind: 'preview'; version: number } | { kind: 'compare'; before: Side; after: Side }

/** All versions, who deployed them and why, and actions to view, compare, restore or activate them. */
export function VersionsView({ autosave, onClose }: { autosave: Autosave; onClose: () => void }) {
  const { workflowId } = useEditing()
  const [shown, setShown] = useState<Shown>()
  const { data: versions, error, refetch } = useQuery(versionsQuery(workflowId))
  const actions = useVersionActions(autosave, onClose)
  const [undeploying, setUndeploying] = useState<Version>()
  if (error) return <Failed error={error} retry={() => void refetch()} />
  if (!versions) return <Loading lines={4} />
  if (versions.length === 0) {
    return (
      <Empty icon={<Layers size={22} />} title="No versions yet">
        Every deployment creates a version. You can make each version live again.
      </Empty>
    )
  }
  if (shown) {
    return (
      <div className="flex min-h-0 flex-1 flex-col">
        <div className="px-3 pt-3">
          <Button size="small" look="quiet" icon={<ArrowLeft size={14} />} onClick={() => setShown(undefined)}>
            All versions
          </Button>
        </div>
        {shown.kind === 'preview' ? (
          <Suspense fallback={<Loading lines={4} />}>
            <VersionPreview version={shown.version} />
          </Suspense>
        ) : (
          <CompareView versions={versions} {...shown} onChange={(sides) => setShown({ kind: 'compare', ...sides })} />
        )}
      </div>
    )
  }
  return (
    <>
      <ul className="divide-y divide-line">
        {versions.map((version) => (
          <VersionRow
            key={version.version}
            version={version}
            actions={{
              ...actions,
              preview: () => setShown({ kind: 'preview', version: version.version }),
              compare: () => setShown({ kind: 'compare', before: version.version, after: 'draft' }),
              undeploy: () => setUndeploying(version),
            }}
          />
        ))}
      </ul>
      <Confirm
        open={undeploying !== undefined}
        onClose={() => setUndeploying(undefined)}
        title="Undeploy the workflow?"
        action="Undeploy"
        onConfirm={actions.undeployNow}
      >
        Version {undeploying?.version} stops: new calls are rejected. You can make it live again.
      </Confirm>
    </>
  )
}

function useVersionActions(autosave: Autosave, onClose: () => void) {
  const { workflowId, draft } = useEditing()
  const queries = useQueryClient()
  const toast = useToast()
  const params = (version: number) => ({ id: workflowId, version: String(version) })
  const refresh = () => refreshVersions(queries, workflowId)
  const activate = useMutation({
    mutationFn: (version: number) =>
      call('POST /api/workflows/:id/deployments/:version/activate', { params: params(version) }),
    onSuccess: (_, version) => {
      refresh()
      toast.show({ text: `Version ${version} is live.` })
    },
    onError: toast.fail,
  })
  const describe = async (version: number, body: { name?: string | null; description?: string | null }) => {
    await call('PATCH /api/workflows/:id/deployments/:version', { params: params(version), body })
    refresh()
  }
  const restore = useMutation({
    mutationFn: async (version: number) => {
      await autosave.flush()
      return await queries.fetchQuery(versionDocumentQuery(workflowId, version))
    },
    onSuccess: (document, version) => {
      const { name, folder, description } = draft.state().document
      const kept = { name, ...(folder && { folder }), ...(description && { description }) }
      // A regular edit, so that it can be undone.
      draft.perform({ kind: 'replace', document: { ...document, ...kept } })
      toast.show({
        text: `Version ${version} was restored into the draft.`,
        action: { label: 'Undo', run: () => draft.undo() },
      })
      onClose()
    },
    onError: toast.fail,
  })
  const undeployNow = async () => {
    await call('DELETE /api/workflows/:id/deploy', { params: { id: workflowId } })
    refresh()
    toast.show({ text: 'The workflow was undeployed. New calls are rejected.' })
  }
  return { activate: activate.mutate, restore: restore.mutate, describe, undeployNow }
}
