import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { call } from '../../api/call.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog, DialogBody, FormDialog } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/field.tsx'
import { Failed, Loading } from '../../parts/states.tsx'
import { TimeAgo } from '../../parts/time-ago.tsx'
import { useToast } from '../../parts/toast.tsx'
import { useWorkspace } from '../../shell/workspace.tsx'
import { FolderField, tidiedFolder } from './folder-field.tsx'
import { type WorkflowOverview, workflowsQuery } from './workflow-queries.ts'

/** Renames a workflow or moves it to another folder. */
export function ChangeWorkflow({
  workflow,
  what,
  workflows,
  onClose,
}: {
  workflow: WorkflowOverview
  what: 'name' | 'folder'
  workflows: readonly WorkflowOverview[]
  onClose: () => void
}) {
  const [name, setName] = useState(workflow.name)
  const [folder, setFolder] = useState(workflow.folder ?? '')
  return (
    <ChangeDialog
      title={what === 'name' ? `Rename ${workflow.name}` : `Move ${workflow.name}`}
      submit={what === 'name' ? 'Rename' : 'Move'}
      onClose={onClose}
      onSubmit={() =>
        call('PATCH /api/editor/workflows/:id', {
          params: { id: workflow.id },
          body: what === 'name' ? { name: name.trim() } : { folder: tidiedFolder(folder) },
        })
      }
    >
      {what === 'name' ? (
        <NameField name={name} onChange={setName} />
      ) : (
        <FolderField folder={folder} onChange={setFolder} workflows={workflows} />
      )}
    </ChangeDialog>
  )
}

/** Moves a folder and everything in it to another path. */
export function MoveFolder({
  path,
  workflows,
  onClose,
}: {
  path: string
  workflows: readonly WorkflowOverview[]
  onClose: () => void
}) {
  const { id: workspaceId } = useWorkspace()
  const [to, setTo] = useState(path)
  return (
    <ChangeDialog
      title={`Rename or move ${path}`}
      submit="Move"
      onClose={onClose}
      onSubmit={() => call('POST /api/editor/folders/move', { body: { workspaceId, path, to: tidiedFolder(to) } })}
    >
      <FolderField folder={to} onChange={setTo} workflows={workflows} />
    </ChangeDialog>
  )
}

function ChangeDialog({
  title,
  submit,
  onClose,
  onSubmit,
  children,
}: {
  title: string
  submit: string
  onClose: () => void
  onSubmit: () => Promise<unknown>
  children: ReactNode
}) {
  const { id } = useWorkspace()
  const queries = useQueryClient()
  const change = async () => {
    await onSubmit()
    await queries.invalidateQueries(workflowsQuery(id))
    onClose()
  }
  return (
    <FormDialog title={title} width="small" submit={submit} onClose={onClose} onSubmit={change}>
      {children}
    </FormDialog>
  )
}

/** Lists recently deleted workflows, which can be restored. */
export function DeletedWorkflows({ onClose }: { onClose: () => void }) {
  const { id: workspaceId } = useWorkspace()
  const queries = useQueryClient()
  const toast = useToast()
  const { data, error, refetch } = useQuery({
    queryKey: ['deleted-workflows', workspaceId],
    queryFn: ({ signal }) => call('GET /api/editor/workflows/deleted', { query: { workspaceId }, signal }),
    staleTime: 0,
  })
  const restore = useMutation({
    mutationFn: (id: string) => call('POST /api/editor/workflows/:id/restore', { params: { id } }),
    onSuccess: async ({ reason }) => {
      await Promise.all([queries.invalidateQueries(workflowsQuery(workspaceId)), refetch()])
      toast.show(
        reason
          ? { text: `Workflow restored but not deployed: ${reason}`, tone: 'error' }
          : { text: 'Workflow restored.' },
      )
    },
    onError: toast.fail,
  })
  return (
    <Dialog
      onClose={onClose}
      title="Deleted workflows"
      description="You can restore them until the retention period ends."
    >
      <DialogBody>
        {error ? (
          <Failed error={error} retry={() => void refetch()} />
        ) : !data ? (
          <Loading lines={3} />
        ) : data.data.length === 0 ? (
          <p className="py-6 text-center text-sm text-muted">No deleted workflows.</p>
        ) : (
          <ul className="divide-y divide-line rounded-lg border border-line">
            {data.data.map(({ id, name, folder, deletedAt }) => (
              <li key={id} className="flex items-center gap-3 px-3 py-2">
                <div className="min-w-0 flex-1">
                  <p className="truncate text-sm font-medium">{name}</p>
                  <p className="truncate text-xs text-muted">
                    {folder && `${folder} · `}deleted <TimeAgo at={deletedAt} />
                  </p>
                </div>
                <Button
                  size="small"
                  busy={restore.isPending && restore.variables === id}
                  onClick={() => restore.mutate(id)}
                >
                  Restore
                </Button>
              </li>
            ))}
          </ul>
        )}
      </DialogBody>
    </Dialog>
  )
}

function NameField({ name, onChange }: { name: string; onChange: (name: string) => void }) {
  return (
    <TextField
      label="Name"
      autoFocus
      required
      maxLength={200}
      value={name}
      onFocus={(event) => event.target.select()}
      onChange={onChange}
    />
  )
}
