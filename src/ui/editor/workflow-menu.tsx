import { useQueryClient } from '@tanstack/react-query'
import {
  BellRing,
  Bot,
  Braces,
  CopyPlus,
  Download,
  Ellipsis,
  FlaskConical,
  FolderInput,
  History,
  PlugZap,
  PowerOff,
  ScrollText,
  Sparkles,
  Trash2,
  Webhook,
} from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { useLocation } from 'wouter'
import { call } from '../api/call.ts'
import { useMe } from '../api/session.ts'
import { IconButton } from '../parts/button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { docs } from '../parts/docs-link.tsx'
import { Menu, type MenuEntry } from '../parts/menu.tsx'
import { useToast } from '../parts/toast.tsx'
import { exportWorkflow } from '../screens/workflows/export-workflow.ts'
import { useDeleteWorkflow, useDuplicateWorkflow } from '../screens/workflows/workflow-actions.ts'
import { useDraft, useEditing } from './editing.tsx'
import type { EditorDialog } from './editor-dialog.ts'
import { usePins } from './pins/pins.tsx'
import type { Autosave } from './save/autosave.ts'

const MoveDialog = lazy(async () => ({ default: (await import('./move-dialog.tsx')).MoveDialog }))

/** The menu of the open workflow: its dialogs and screens, and the actions of the list of workflows. */
export function WorkflowMenu({
  autosave,
  version,
  onDialog,
}: {
  autosave: Autosave
  /** The live version; null when the workflow is not deployed. */
  version: number | null
  onDialog: (dialog: EditorDialog) => void
}) {
  const { workflowId: id, workspaceId, readOnly } = useEditing()
  const name = useDraft(({ document }) => document.name)
  const [open, setOpen] = useState<'move' | 'undeploy' | 'delete'>()
  const [, navigate] = useLocation()
  const toast = useToast()
  const queries = useQueryClient()
  const { mayTurnAssistantOn } = useMe().service
  const hasPins = usePins().outputs.size > 0
  const remove = useDeleteWorkflow(workspaceId)
  const duplicate = useDuplicateWorkflow(workspaceId)
  const close = () => setOpen(undefined)
  /** The service must have the draft before it copies or exports the workflow. */
  const afterSave = async (action: () => Promise<unknown>) => {
    if (await autosave.flush()) await action().catch(toast.fail)
    else toast.show({ text: 'The workflow could not be saved. Nothing was done.', tone: 'error' })
  }
  const undeploy = async () => {
    await call('DELETE /api/workflows/:id/deploy', { params: { id } })
    for (const key of ['workflow-status', 'deployments']) void queries.invalidateQueries({ queryKey: [key, id] })
    void queries.invalidateQueries({ queryKey: ['workflows'] })
    toast.show({ text: 'The workflow was undeployed. New calls are rejected.' })
  }
  const change: MenuEntry[] = [
    { label: 'Duplicate', icon: <CopyPlus size={15} />, onSelect: () => void afterSave(() => duplicate({ id })) },
    { label: 'Move to folder', icon: <FolderInput size={15} />, onSelect: () => setOpen('move') },
  ]
  const end: MenuEntry[] = [
    'separator',
    ...(version === null
      ? []
      : [{ label: 'Undeploy', icon: <PowerOff size={15} />, danger: true, onSelect: () => setOpen('undeploy') }]),
    { label: 'Delete', icon: <Trash2 size={15} />, danger: true, onSelect: () => setOpen('delete') },
  ]
  return (
    <>
      <Menu
        align="end"
        trigger={<IconButton label="More" icon={<Ellipsis size={17} />} />}
        entries={[
          { label: 'Versions', icon: <History size={15} />, onSelect: () => onDialog('versions') },
          { label: 'Tests', icon: <FlaskConical size={15} />, onSelect: () => onDialog('tests') },
          { label: 'Entry points', icon: <PlugZap size={15} />, onSelect: () => onDialog('endpoint') },
          { label: 'Offer to assistants (MCP)', icon: <Bot size={15} />, onSelect: () => onDialog('assistants') },
          {
            label: 'Description, run variables and limits',
            icon: <Braces size={15} />,
            onSelect: () => onDialog('about'),
          },
          {
            label: 'Webhook subscriptions',
            icon: <Webhook size={15} />,
            onSelect: () => navigate(`/workflows/${id}/webhooks`),
          },
          ...(readOnly
            ? []
            : [
                {
                  label: 'Tell me when this fails',
                  icon: <BellRing size={15} />,
                  onSelect: () => navigate(`/w/${workspaceId}/alerts?new=${id}`),
                },
              ]),
          {
            label: 'Logs',
            icon: <ScrollText size={15} />,
            onSelect: () => navigate(`/w/${workspaceId}/logs?workflowIds=${id}`),
          },
          'separator',
          ...(readOnly ? [] : change),
          {
            label: 'Export',
            icon: <Download size={15} />,
            onSelect: () => void afterSave(() => exportWorkflow(id)),
          },
          ...(hasPins
            ? [
                {
                  label: 'Export with pinned outputs',
                  icon: <Download size={15} />,
                  onSelect: () => void afterSave(() => exportWorkflow(id, { pins: true })),
                },
              ]
            : []),
          ...(mayTurnAssistantOn
            ? [
                {
                  label: 'Turn the assistant on',
                  icon: <Sparkles size={15} />,
                  onSelect: () => void globalThis.open(docs.assistant, '_blank', 'noopener'),
                },
              ]
            : []),
          ...(readOnly ? [] : end),
        ]}
      />
      {open === 'move' && (
        <Suspense>
          <MoveDialog onClose={close} />
        </Suspense>
      )}
      <Confirm
        open={open === 'undeploy'}
        onClose={close}
        title={`Undeploy ${name}?`}
        action="Undeploy"
        onConfirm={undeploy}
      >
        Version {version} stops: new calls are rejected, and schedules no longer start runs. All versions stay, and you
        can make each of them live again.
      </Confirm>
      <Confirm
        open={open === 'delete'}
        onClose={close}
        title={`Delete ${name}?`}
        action="Delete"
        onConfirm={async () => {
          await autosave.flush()
          await remove({ id, name })
          navigate(`/w/${workspaceId}/workflows`)
        }}
      >
        {version !== null && `Version ${version} is live. New calls will be rejected. `}You can restore the workflow
        later.
      </Confirm>
    </>
  )
}
