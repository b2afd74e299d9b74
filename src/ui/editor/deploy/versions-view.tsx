import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Layers } from 'lucide-react'
import type { WorkflowResponse } from '../../../http/responses/workflow-schemas.ts'
import { call } from '../../api/call.ts'
import { Badge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { Empty, Failed, Loading } from '../../parts/states.tsx'
import { useToast } from '../../parts/toast.tsx'
import type { Document } from '../document/document.ts'
import { openDocument } from '../document/edit.ts'
import { useEditing } from '../editing.tsx'
import { NameField } from '../name-field.tsx'
import type { Autosave } from '../save/autosave.ts'

/** All versions: which one is live, their names, and actions to activate or load them. */
export function VersionsView({ autosave, onClose }: { autosave: Autosave; onClose: () => void }) {
  const { workflowId, draft, readOnly } = useEditing()
  const queries = useQueryClient()
  const toast = useToast()
  const { data, error, refetch } = useQuery({
    queryKey: ['deployments', workflowId],
    queryFn: ({ signal }) => call('GET /api/workflows/:id/deployments', { params: { id: workflowId }, signal }),
  })
  const params = (version: number) => ({ id: workflowId, version: String(version) })
  const refresh = () => {
    void queries.invalidateQueries({ queryKey: ['deployments', workflowId] })
    void queries.invalidateQueries({ queryKey: ['workflow-status', workflowId] })
    void queries.invalidateQueries({ queryKey: ['workflows'] })
  }
  const activate = useMutation({
    mutationFn: (version: number) =>
      call('POST /api/workflows/:id/deployments/:version/activate', { params: params(version) }),
    onSuccess: (_, version) => {
      refresh()
      toast.show({ text: `Version ${version} is live.` })
    },
    onError: toast.fail,
  })
  const describe = useMutation({
    mutationFn: ({ version, name }: { version: number; name: string }) =>
      call('PATCH /api/workflows/:id/deployments/:version', { params: params(version), body: { name } }),
    onSuccess: refresh,
    onError: toast.fail,
  })
  const undeploy = useMutation({
    mutationFn: () => call('DELETE /api/workflows/:id/deploy', { params: { id: workflowId } }),
    onSuccess: () => {
      refresh()
      toast.show({ text: 'The workflow was undeployed. New calls are rejected.' })
    },
    onError: toast.fail,
  })
  const load = useMutation({
    mutationFn: async (version: number) => {
      await autosave.flush()
      const found = await call('GET /api/workflows/:id/deployments/:version', { params: params(version) })
      return found.document as unknown as WorkflowResponse & Document
    },
    onSuccess: (document, version) => {
      const { id: _, ...whole } = document
      // A regular edit, so it can be undone.
      draft.perform({ kind: 'replace', document: openDocument({ ...whole, name: draft.state().document.name }) })
      toast.show({
        text: `Version ${version} was loaded into the draft.`,
        action: { label: 'Undo', run: () => draft.undo() },
      })
      onClose()
    },
    onError: toast.fail,
  })
  if (error) return <Failed error={error} retry={() => void refetch()} />
  if (!data) return <Loading lines={4} />
  if (data.data.length === 0) {
    return (
      <Empty icon={<Layers size={22} />} title="No versions yet">
        Every deployment creates a version. You can make each version live again.
      </Empty>
    )
  }
  return (
    <ul className="divide-y divide-line">
      {data.data.map(({ version, name, createdAt, isActive }) => (
        <li key={version} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-5 py-2.5">
          <span className="w-8 text-sm font-semibold tabular-nums">v{version}</span>
          <div className="min-w-40 flex-1">
            <NameField
              label={`Name of version ${version}`}
              name={name ?? 'Unnamed'}
              readOnly={readOnly}
              onRename={(next) => describe.mutate({ version, name: next })}
              className={name ? '' : 'text-muted'}
            />
            <div className="text-xs text-muted">{new Date(createdAt).toLocaleString()}</div>
          </div>
          {isActive && <Badge tone="ok">Live</Badge>}
          {!readOnly && (
            <span className="flex gap-1.5">
              <Button size="small" onClick={() => load.mutate(version)}>
                Load into draft
              </Button>
              {isActive ? (
                <Button size="small" look="danger" busy={undeploy.isPending} onClick={() => undeploy.mutate()}>
                  Undeploy
                </Button>
              ) : (
                <Button size="small" onClick={() => activate.mutate(version)}>
                  Make live
                </Button>
              )}
            </span>
          )}
        </li>
      ))}
    </ul>
  )
}
