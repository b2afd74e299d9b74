import { useQuery } from '@tanstack/react-query'
import { ArchiveRestore, Ellipsis, FileUp, LayoutGrid, Plus, Search, SearchX, Workflow } from 'lucide-react'
import { type DragEvent, useRef, useState } from 'react'
import { useLocation, useSearchParams } from 'wouter'
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
import { ImportDialog } from './import/import-dialog.tsx'
import { useNewWorkflow } from './new-workflow.ts'
import { useDeleteWorkflow, useDuplicateWorkflow } from './workflow-actions.ts'
import { ChangeWorkflow, DeletedWorkflows, MoveFolder } from './workflow-dialogs.tsx'
import { FoundWorkflows, WorkflowTree } from './workflow-list.tsx'
import { type WorkflowOverview, workflowsQuery } from './workflow-queries.ts'

type Open =
  | { kind: 'deleted' }
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
  const create = useNewWorkflow()
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
              id: 'import',
              label: 'Import workflows',
              group: 'Create',
              icon: <FileUp size={15} />,
              run: () => setOpen({ kind: 'import', files: [] }),
            },
          ]
        : []),
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
              className="max-md:hidden"
              icon={<LayoutGrid size={15} aria-hidden="true" />}
              onClick={() => navigate(`/w/${workspaceId}/gallery`)}
            >
              Gallery
            </Button>
            <Button
              look="primary"
              icon={<Plus size={15} aria-hidden="true" />}
              busy={create.isPending}
              onClick={() => create.mutate()}
            >
              New workflow
            </Button>
            <Menu
              align="end"
              trigger={<IconButton label="More" icon={<Ellipsis size={17} />} />}
              entries={[
                {
                  label: 'Gallery',
                  icon: <LayoutGrid size={15} />,
                  onSelect: () => navigate(`/w/${workspaceId}/gallery`),
                },
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
            <NoWorkflows mayWrite={mayWrite} onImport={() => setOpen({ kind: 'import', files: [] })} />
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

function NoWorkflows({ mayWrite, onImport }: { mayWrite: boolean; onImport: () => void }) {
  const { id } = useWorkspace()
  const create = useNewWorkflow()
  const [, navigate] = useLocation()
  return (
    <Empty
      icon={<Workflow size={22} />}
      title="No workflows yet"
      action={
        mayWrite && (
          <>
            <Button onClick={onImport}>Import</Button>
            <Button onClick={() => navigate(`/w/${id}/gallery`)}>Choose from the gallery</Button>
            <Button look="primary" busy={create.isPending} onClick={() => create.mutate()}>
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
  const toast = useToast()
  const deleteNow = useDeleteWorkflow(workspaceId)
  const duplicate = useDuplicateWorkflow(workspaceId)
  return {
    deleteNow,
    rename: (workflow: WorkflowOverview) => setOpen({ kind: 'name', workflow }),
    move: (workflow: WorkflowOverview) => setOpen({ kind: 'folder', workflow }),
    moveFolder: (path: string) => setOpen({ kind: 'move', path }),
    duplicate,
    exportFile: ({ id }: WorkflowOverview) => void exportWorkflow(id).catch(toast.fail),
    // A workflow that is not deployed is deleted without confirmation; the toast offers to undo it.
    remove: (workflow: WorkflowOverview) => {
      if (workflow.version !== null) setOpen({ kind: 'delete', workflow })
      else void deleteNow(workflow).catch(toast.fail)
    },
  }
}
