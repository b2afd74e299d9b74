import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Rocket } from 'lucide-react'
import { useEffect, useSyncExternalStore } from 'react'
import type { WorkflowResponse } from '../../../http/responses/workflow-schemas.ts'
import { call } from '../../api/call.ts'
import { messageOf } from '../../api/message-of.ts'
import { Badge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { Loading } from '../../parts/states.tsx'
import { useToast } from '../../parts/toast.tsx'
import type { Actions } from '../document/actions.ts'
import { useDraft, useEditing } from '../editing.tsx'
import { FindingList } from '../editor-header.tsx'
import type { Autosave } from '../save/autosave.ts'
import { type Change, changesBetween } from './changes.ts'

/** Shows problems and changes since the live version, and deploys the draft. */
export function DeployView({
  autosave,
  actions,
  onView,
  onClose,
}: {
  autosave: Autosave
  actions: Actions
  onView: (view: 'endpoint') => void
  onClose: () => void
}) {
  const { workflowId, readOnly } = useEditing()
  const { save, findings } = useSyncExternalStore(autosave.watch, autosave.info)
  const document = useDraft((state) => state.document)
  const queries = useQueryClient()
  const toast = useToast()
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once, when the view opens
  useEffect(() => {
    void autosave.flush()
  }, [])
  const status = useQuery({
    queryKey: ['workflow-status', workflowId, 'deploy', save.phase],
    queryFn: ({ signal }) => call('GET /api/workflows/:id/status', { params: { id: workflowId }, signal }),
    placeholderData: (before) => before,
  })
  const version = status.data?.version ?? null
  const active = useQuery({
    queryKey: ['deployment', workflowId, version],
    enabled: version !== null,
    queryFn: async ({ signal }) => {
      const params = { id: workflowId, version: String(version) }
      const found = await call('GET /api/workflows/:id/deployments/:version', { params, signal })
      return found.document as unknown as WorkflowResponse
    },
  })
  const deploy = useMutation({
    mutationFn: async () => {
      if (!(await autosave.flush())) throw new Error('The workflow could not be saved, so it was not deployed.')
      return await call('POST /api/workflows/:id/deploy', { params: { id: workflowId } })
    },
    onSuccess: (deployed) => {
      void queries.invalidateQueries({ queryKey: ['workflow-status', workflowId] })
      void queries.invalidateQueries({ queryKey: ['deployments', workflowId] })
      void queries.invalidateQueries({ queryKey: ['workflows'] })
      toast.show({ text: `Version ${deployed.version} is live.` })
      onView('endpoint')
    },
  })
  if (!status.data) return <Loading lines={4} />
  const changes = version === null || !active.data ? undefined : changesBetween(active.data, document)
  const isSame = version !== null && !status.data.needsRedeployment && save.phase === 'saved'
  const errors = findings.filter(({ level }) => level === 'error')
  return (
    <div className="flex flex-col gap-5 p-5">
      <p className="text-sm">
        {version === null
          ? 'This workflow is not deployed. Deploying publishes the draft as a new live version.'
          : isSame
            ? `Version ${version} is live and matches the draft.`
            : `Version ${version} is live. Deploying publishes the draft as version ${version + 1} for all new runs.`}
      </p>
      {changes && changes.length > 0 && (
        <section>
          <h3 className="mb-1.5 text-xs font-medium">Changes since version {version}</h3>
          <ul className="flex flex-col gap-1">
            {changes.map((change) => (
              <ChangeRow key={`${change.kind} ${change.id}`} change={change} />
            ))}
          </ul>
        </section>
      )}
      {[
        { title: 'Errors to fix before deploying', list: errors },
        { title: 'Warnings', list: findings.filter(({ level }) => level !== 'error') },
      ].map(
        ({ title, list }) =>
          list.length > 0 && (
            <section key={title} aria-label={title}>
              <h3 className="mb-1.5 text-xs font-medium">{title}</h3>
              <FindingList findings={list} actions={actions} onGo={onClose} />
            </section>
          ),
      )}
      {deploy.isError && (
        <p role="alert" className="rounded-md bg-error-soft px-3 py-2 text-sm break-words text-error-text">
          {messageOf(deploy.error)}
        </p>
      )}
      <div className="flex items-center gap-3">
        <Button
          look="primary"
          icon={<Rocket size={14} />}
          busy={deploy.isPending}
          disabled={readOnly || errors.length > 0}
          onClick={() => deploy.mutate()}
        >
          {version === null ? 'Deploy' : `Deploy version ${version + 1}`}
        </Button>
        {isSame && <span className="text-sm text-muted">No changes to deploy.</span>}
      </div>
    </div>
  )
}

function ChangeRow({ change }: { change: Change }) {
  const { kind, name, what } = change
  const tone = { added: 'ok', removed: 'error', changed: 'accent' } as const
  return (
    <li className="flex items-baseline gap-2 text-sm">
      <Badge tone={tone[kind]} className="w-18 justify-center">
        {kind}
      </Badge>
      <span className="min-w-0 break-words">
        <span className="font-medium">{name}</span>
        {what.length > 0 && <span className="text-muted">: {what.join(', ')}</span>}
      </span>
    </li>
  )
}
