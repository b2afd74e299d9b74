import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Pin, Rocket } from 'lucide-react'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { call } from '../../api/call.ts'
import { Button } from '../../parts/button.tsx'
import { DialogActions } from '../../parts/dialog.tsx'
import { Field, TextArea, TextField } from '../../parts/field.tsx'
import { ErrorNote, Loading } from '../../parts/states.tsx'
import { useToast } from '../../parts/toast.tsx'
import { DiffView } from '../diff/diff-view.tsx'
import type { Actions } from '../document/actions.ts'
import { useDraft, useEditing } from '../editing.tsx'
import { useStatus } from '../editor-queries.ts'
import { FindingList } from '../finding-list.tsx'
import { usePins } from '../pins/pins.tsx'
import type { Autosave } from '../save/autosave.ts'
import { refreshVersions, versionDocumentQuery, versionsQuery } from './version-queries.ts'

/** Shows problems and the changes since the live version, and deploys the draft. */
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
  const { save, revision, findings } = useSyncExternalStore(autosave.watch, autosave.info)
  const document = useDraft((state) => state.document)
  const pinned = usePins().outputs.size
  const queries = useQueryClient()
  const toast = useToast()
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once, when the view opens
  useEffect(() => {
    void autosave.flush()
  }, [])
  const status = useStatus(workflowId, revision)
  const version = status.data?.version ?? null
  const { data: versions } = useQuery(versionsQuery(workflowId))
  const { data: live } = useQuery(versionDocumentQuery(workflowId, version))
  const deploy = useMutation({
    mutationFn: async () => {
      if (!(await autosave.flush())) throw new Error('The workflow could not be saved, so it was not deployed.')
      const body = { name: name.trim() || null, description: description.trim() || null }
      return await call('POST /api/workflows/:id/deploy', { params: { id: workflowId }, body })
    },
    onSuccess: (deployed) => {
      refreshVersions(queries, workflowId)
      toast.show({ text: `Version ${deployed.version} is live.` })
      onView('endpoint')
    },
  })
  if (!status.data || !versions) return <Loading lines={4} />
  const next = (versions[0]?.version ?? 0) + 1
  const isSame = version !== null && !status.data.needsRedeployment && save.phase === 'saved'
  const errors = findings.filter(({ level }) => level === 'error')
  return (
    <>
      <div className="flex min-h-0 flex-1 flex-col gap-5 overflow-y-auto p-5">
        <p className="text-sm">
          {version === null
            ? 'This workflow is not deployed. Deploying publishes the draft as a new live version.'
            : isSame
              ? `Version ${version} is live and matches the draft.`
              : `Version ${version} is live. Deploying publishes the draft as version ${next} for all new runs.`}
        </p>
        {pinned > 0 && (
          <p className="flex items-center gap-2 text-sm text-muted">
            <Pin size={14} aria-hidden="true" className="shrink-0" />
            {pinned === 1 ? 'One block of the draft has a pinned output.' : `${pinned} blocks have pinned outputs.`}{' '}
            Pins are not deployed: the new version runs {pinned === 1 ? 'this block' : 'these blocks'}.
          </p>
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
        {!readOnly && !isSame && version !== null && (
          <section aria-label="Note" className="grid gap-3 md:grid-cols-[minmax(0,2fr)_minmax(0,3fr)]">
            <TextField
              label="Name of the version"
              optional
              maxLength={200}
              placeholder="Faster retries"
              value={name}
              onChange={setName}
            />
            <Field label="What changed, and why" optional>
              {(tied) => (
                <TextArea
                  {...tied}
                  rows={1}
                  className="min-h-8!"
                  maxLength={10_000}
                  value={description}
                  onChange={(event) => setDescription(event.target.value)}
                />
              )}
            </Field>
          </section>
        )}
        {version !== null && live && !isSame && (
          <section aria-label={`Changes since version ${version}`}>
            <h3 className="mb-1.5 text-xs font-medium">Changes since version {version}</h3>
            <DiffView before={live} after={document} none="Nothing changed that affects runs." />
          </section>
        )}
        <ErrorNote error={deploy.error} />
      </div>
      <DialogActions>
        {isSame && <span className="mr-auto self-center text-sm text-muted">No changes to deploy.</span>}
        <Button
          look={isSame ? 'plain' : 'primary'}
          icon={<Rocket size={14} />}
          busy={deploy.isPending}
          disabled={readOnly || errors.length > 0}
          onClick={() => deploy.mutate()}
        >
          {version === null ? 'Deploy' : `Deploy version ${next}`}
        </Button>
      </DialogActions>
    </>
  )
}
