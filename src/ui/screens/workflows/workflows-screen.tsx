import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ArchiveRestore, Ellipsis, FileUp, Plus, Search, SearchX, Workflow } from 'lucide-react'
import { type DragEvent, useRef, useState } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import { call } from '../../api/call.ts'
import { Button, IconButton } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { DocsLink, docs } from '../../parts/docs-link.tsx'
import { Input } from '../../parts/field.tsx'
import { findItems } from '../../parts/find.ts'
import { useSingleKeys } from '../../parts/keys.tsx'
import { Menu } from '../../parts/menu.tsx'
import { Empty, Failed, Loading } from '../../parts/states.tsx'
import { useToast } from '../../parts/toast.tsx'
import { useCommands } from '../../shell/commands.tsx'
import { Page, PageBody } from '../../shell/page.tsx'
import { useMayWrite, useWorkspace } from '../../shell/workspace.tsx'
import { exportWorkflow } from './export-workflow.ts'
import { ImportDialog } from './import-dialog.tsx'
import { ChangeWorkflow, DeletedWorkflows, MoveFolder, NewWorkflow } from './workflow-dialogs.tsx'
import { FoundWorkflows, WorkflowTree } from './workflow-list.tsx'
import { type WorkflowOverview, workflowsQuery } from './workflow-queries.ts'

type Open =
  | { kind: 'new' | 'deleted' }
  | { kind: 'import'; files: readonly File[] }
  | { kind: 'name' | 'folder' | 'delete'; workflow: WorkflowOverview }
  | { kind: 'move'; path: string }

/** The workflows of a workspace. */
export function WorkflowsScreen() {
  const { id: workspaceId, name: workspaceName } = useWorkspace()
  const mayWrite = useMayWrite()
  const [search, setSearch] = useSearchParams()
  const typed = search.get('q') ?? ''
  const [open, setOpen] = useState<Open>()
  const [, navigate] = useLocation()
  const finder = useRef<HTMLInputElement>(null)
  const { data, error, refetch } = useQuery(workflowsQuery(workspaceId))
  const actions = useActions(setOpen)
  const workflows = data ?? []
  const found = findItems(
    workflows,
    typed,
    ({ name, folder, description }) => `${name} ${folder ?? ''} ${description ?? ''}`,
  )
  useSingleKeys({ '/': () => finder.current?.focus() })
  useCommands(
    [
      ...(mayWrite
        ? [
            {
              id: 'new-workflow',
              label: 'New workflow',
              group: 'Workflow',
              icon: <Plus size={15} />,
              run: () => setOpen({ kind: 'new' }),
            },
            {
              id: 'import',
              label: 'Import workflows',
              group: 'Workflow',
              icon: <FileUp size={15} />,
              run: () => setOpen({ kind: 'import', files: [] }),
            },
          ]
        : []),
      ...workflows.slice(0, 200).map(({ id, name, folder }) => ({
        id: `open-${id}`,
        label: name,
        group: 'Workflows',
        words: folder ?? '',
        icon: <Workflow size={15} />,
        run: () => navigate(`/workflows/${id}`),
      })),
    ],
    workspaceId,
  )
  const drop = (event: DragEvent) => {
    if (!mayWrite || open || event.dataTransfer.files.length === 0) return
    event.preventDefault()
    setOpen({ kind: 'import', files: [...event.dataTransfer.files] })
  }
  return (
    <Page
      title="Workflows"
      crumbs={[{ label: workspaceName }]}
      actions={
        mayWrite && (
          <>
            <Button
              className="max-md:hidden"
              icon={<FileUp size={15} aria-hidden="true" />}
              onClick={() => setOpen({ kind: 'import', files: [] })}
            >
              Import
            </Button>
            <Button
              look="primary"
              icon={<Plus size={15} aria-hidden="true" />}
              onClick={() => setOpen({ kind: 'new' })}
            >
              New workflow
            </Button>
            <Menu
              align="end"
              trigger={<IconButton label="More" icon={<Ellipsis size={17} />} />}
              entries={[
                { label: 'Import', icon: <FileUp size={15} />, onSelect: () => setOpen({ kind: 'import', files: [] }) },
                {
                  label: 'Deleted workflows',
                  icon: <ArchiveRestore size={15} />,
                  onSelect: () => setOpen({ kind: 'deleted' }),
                },
              ]}
            />
          </>
        )
      }
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a button also opens the import */}
      <div className="flex min-h-0 flex-1 flex-col" onDragOver={(event) => event.preventDefault()} onDrop={drop}>
        <PageBody>
          {error && !data ? (
            <Failed error={error} retry={() => void refetch()} />
          ) : !data ? (
            <Loading />
          ) : data.length === 0 ? (
            <NoWorkflows mayWrite={mayWrite} onOpen={setOpen} />
          ) : (
            <>
              <div className="relative mb-4 max-w-88">
                <Search
                  size={15}
                  className="pointer-events-none absolute top-2 left-2.5 text-muted"
                  aria-hidden="true"
                />
                <Input
                  ref={finder}
                  type="search"
                  aria-label="Search workflows"
                  placeholder="Search by name, folder or description"
                  className="pl-8"
                  value={typed}
                  onChange={(event) => {
                    const text = event.target.value
                    setSearch(text === '' ? {} : { q: text }, { replace: true })
                  }}
                />
              </div>
              {typed.trim() === '' ? (
                <WorkflowTree workflows={workflows} actions={actions} mayWrite={mayWrite} />
              ) : found.length > 0 ? (
                <FoundWorkflows workflows={found} actions={actions} mayWrite={mayWrite} />
              ) : (
                <Empty icon={<SearchX size={22} />} title="No matching workflows">
                  No workflow in {workspaceName} has “{typed}” in its name, folder or description.
                </Empty>
              )}
            </>
          )}
        </PageBody>
      </div>
      <Dialogs open={open} workflows={workflows} onClose={() => setOpen(undefined)} onDelete={actions.deleteNow} />
    </Page>
  )
}

function NoWorkflows({ mayWrite, onOpen }: { mayWrite: boolean; onOpen: (open: Open) => void }) {
  return (
    <Empty
      icon={<Workflow size={22} />}
      title="No workflows yet"
      action={
        mayWrite && (
          <>
            <Button onClick={() => onOpen({ kind: 'import', files: [] })}>Import</Button>
            <Button look="primary" onClick={() => onOpen({ kind: 'new' })}>
              New workflow
            </Button>
          </>
        )
      }
    >
      A workflow starts with a trigger, such as an API request, and runs block by block.{' '}
      <DocsLink to={docs.firstWorkflow}>Your first workflow</DocsLink>
    </Empty>
  )
}

function Dialogs({
  open,
  workflows,
  onClose,
  onDelete,
}: {
  open: Open | undefined
  workflows: readonly WorkflowOverview[]
  onClose: () => void
  onDelete: (workflow: WorkflowOverview) => Promise<unknown>
}) {
  switch (open?.kind) {
    case undefined:
      return null
    case 'new':
      return <NewWorkflow taken={workflows} onClose={onClose} />
    case 'import':
      return <ImportDialog taken={workflows} files={open.files} onClose={onClose} />
    case 'deleted':
      return <DeletedWorkflows onClose={onClose} />
    case 'move':
      return <MoveFolder path={open.path} workflows={workflows} onClose={onClose} />
    case 'delete':
      return (
        <Confirm
          open
          onClose={onClose}
          title={`Delete ${open.workflow.name}?`}
          action="Delete"
          onConfirm={() => onDelete(open.workflow)}
        >
          Version {open.workflow.version} is live. New calls will be rejected. You can restore the workflow later.
        </Confirm>
      )
    case 'name':
    case 'folder':
      return <ChangeWorkflow workflow={open.workflow} what={open.kind} workflows={workflows} onClose={onClose} />
  }
}

function useActions(setOpen: (open: Open) => void) {
  const { id: workspaceId } = useWorkspace()
  const queries = useQueryClient()
  const toast = useToast()
  const refresh = () => queries.invalidateQueries(workflowsQuery(workspaceId))
  const duplicate = useMutation({
    mutationFn: ({ id }: WorkflowOverview) =>
      call('POST /api/editor/workflows/:id/duplicate', { params: { id }, body: {} }),
    onSuccess: async ({ name }) => {
      await refresh()
      toast.show({ text: `${name} was created.` })
    },
    onError: toast.fail,
  })
  const restore = async (id: string) => {
    try {
      const { reason } = await call('POST /api/editor/workflows/:id/restore', { params: { id } })
      if (reason) toast.show({ text: `Workflow restored but not deployed: ${reason}`, tone: 'error' })
    } catch (error) {
      toast.fail(error)
    }
    await refresh()
  }
  const deleteNow = async ({ id, name }: WorkflowOverview) => {
    await call('DELETE /api/workflows/:id', { params: { id } })
    queries.setQueryData(workflowsQuery(workspaceId).queryKey, (all) => all?.filter((each) => each.id !== id))
    toast.show({ text: `${name} was deleted.`, action: { label: 'Undo', run: () => void restore(id) } })
  }
  return {
    deleteNow,
    rename: (workflow: WorkflowOverview) => setOpen({ kind: 'name', workflow }),
    move: (workflow: WorkflowOverview) => setOpen({ kind: 'folder', workflow }),
    moveFolder: (path: string) => setOpen({ kind: 'move', path }),
    duplicate: (workflow: WorkflowOverview) => duplicate.mutate(workflow),
    exportFile: ({ id }: WorkflowOverview) => void exportWorkflow(id).catch(toast.fail),
    // A workflow that is not deployed is deleted without confirmation; the toast offers to undo it.
    remove: (workflow: WorkflowOverview) => {
      if (workflow.version !== null) setOpen({ kind: 'delete', workflow })
      else void deleteNow(workflow).catch(toast.fail)
    },
  }
}
