import { Check, ChevronDown, CircleAlert, CloudOff, Ellipsis, Play, Rocket, Square, TriangleAlert } from 'lucide-react'
import { useState, useSyncExternalStore } from 'react'
import { useLocation } from 'wouter'
import { Button, IconButton } from '../parts/button.tsx'
import { classes } from '../parts/class-names.ts'
import { Menu } from '../parts/menu.tsx'
import { Popover } from '../parts/popover.tsx'
import { Spinner } from '../parts/spinner.tsx'
import { Crumbs } from '../shell/page.tsx'
import { useWorkspace } from '../shell/workspace.tsx'
import type { Actions } from './document/actions.ts'
import { useDraft, useEditing } from './editing.tsx'
import type { EditorDialog } from './editor-dialog.ts'
import { useStatus } from './editor-queries.ts'
import type { Finding } from './findings.tsx'
import { NameField } from './name-field.tsx'
import type { Runs } from './run/use-runs.ts'
import type { SaveState } from './save/autosave.ts'

/** The header: breadcrumbs, save state, problems, and actions on the whole workflow. */
export function EditorHeader({
  save,
  findings,
  actions,
  runs,
  onDialog,
}: {
  save: SaveState
  findings: readonly Finding[]
  actions: Actions
  runs: Runs
  onDialog: (dialog: EditorDialog) => void
}) {
  const { workflowId, run, draft, readOnly } = useEditing()
  const workspace = useWorkspace()
  const [, navigate] = useLocation()
  const name = useDraft(({ document }) => document.name)
  const folder = useDraft(({ document }) => document.folder)
  const phase = useSyncExternalStore(run.watch, () => run.state().phase)
  const isRunning = phase === 'running' || phase === 'starting'
  const { data: status } = useStatus(workflowId, save.phase === 'saved')
  const list = `/w/${workspace.id}/workflows`
  return (
    <header className="flex min-h-12 shrink-0 flex-wrap items-center gap-x-2 gap-y-1.5 border-b border-line bg-bg px-3 py-1.5">
      <Crumbs
        crumbs={[{ label: 'Workflows', href: list }, ...(folder ? [{ label: folder }] : [])]}
        title={
          <NameField
            label="Workflow name"
            name={name}
            readOnly={readOnly}
            onRename={(next) => draft.perform({ kind: 'describe', name: next })}
            className="font-semibold"
          />
        }
      />
      <SaveMark save={save} />
      <FindingsButton findings={findings} actions={actions} />
      {status && <DeployedMark version={status.version} stale={status.needsRedeployment} />}
      {!readOnly &&
        (isRunning ? (
          <Button look="danger" icon={<Square size={13} />} onClick={() => void runs.cancel()}>
            Stop
          </Button>
        ) : (
          <div className="flex items-center">
            <Button
              icon={<Play size={14} />}
              onClick={() => void runs.runAll()}
              title="Run the draft (Ctrl+Enter)"
              className="rounded-r-none"
            >
              Run
            </Button>
            <IconButton
              label="Run with custom input"
              keys="Mod+Shift+Enter"
              icon={<ChevronDown size={14} />}
              onClick={() => onDialog('run')}
              className="-ml-px w-6 rounded-l-none border border-line-strong bg-surface shadow-sm"
            />
          </div>
        ))}
      {!readOnly && (
        <Button look="primary" icon={<Rocket size={14} />} onClick={() => onDialog('deploy')}>
          Deploy
        </Button>
      )}
      <Menu
        align="end"
        trigger={<IconButton label="More" icon={<Ellipsis size={17} />} />}
        entries={[
          { label: 'Entry points', onSelect: () => onDialog('endpoint') },
          { label: 'Variables and description', onSelect: () => onDialog('about') },
          { label: 'Versions', onSelect: () => onDialog('versions') },
          { label: 'Webhooks', onSelect: () => navigate(`/workflows/${workflowId}/webhooks`) },
          { label: 'Logs', onSelect: () => navigate(`/w/${workspace.id}/logs?workflowIds=${workflowId}`) },
          'separator',
          { label: 'Export', onSelect: () => exportFile(draft.state().document, workflowId) },
        ]}
      />
    </header>
  )
}

/** Downloads the document as a file. */
function exportFile(document: { name: string }, id: string): void {
  const url = URL.createObjectURL(
    new Blob([JSON.stringify({ id, ...document }, null, 2)], { type: 'application/json' }),
  )
  const link = globalThis.document.createElement('a')
  link.href = url
  link.download = `${document.name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-') || 'workflow'}.json`
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

function SaveMark({ save }: { save: SaveState }) {
  const mark = {
    saved: { icon: <Check size={13} />, text: 'Saved', look: 'text-muted' },
    unsaved: { icon: null, text: 'Unsaved', look: 'text-muted' },
    saving: { icon: <Spinner size={12} />, text: 'Saving…', look: 'text-muted' },
    failed: { icon: <CloudOff size={13} />, text: 'Not saved', look: 'text-error-text' },
    rejected: { icon: <CircleAlert size={13} />, text: 'Cannot be saved', look: 'text-error-text' },
    conflict: { icon: <TriangleAlert size={13} />, text: 'Changed elsewhere', look: 'text-warn-text' },
  }[save.phase]
  return (
    <span
      role="status"
      title={'message' in save ? save.message : undefined}
      className={classes('flex items-center gap-1 px-1 text-xs', mark.look)}
    >
      {mark.icon}
      {mark.text}
    </span>
  )
}

function DeployedMark({ version, stale }: { version: number | null; stale: boolean }) {
  if (version === null) return <span className="px-1 text-xs text-muted max-md:hidden">Not deployed</span>
  return (
    <span className="flex items-center gap-1.5 px-1 text-xs text-muted max-md:hidden">
      <span aria-hidden="true" className={classes('size-1.5 rounded-full', stale ? 'bg-warn' : 'bg-ok')} />
      {stale ? `v${version}, draft changed` : `v${version} is live`}
    </span>
  )
}

function FindingsButton({ findings, actions }: { findings: readonly Finding[]; actions: Actions }) {
  const [isOpen, setIsOpen] = useState(false)
  if (findings.length === 0) return null
  const errors = findings.filter(({ level }) => level === 'error').length
  return (
    <Popover
      align="end"
      className="w-96 p-1"
      open={isOpen}
      onOpenChange={setIsOpen}
      trigger={
        <button
          type="button"
          className={classes(
            'flex h-7 cursor-default items-center gap-1 rounded-md px-2 text-xs font-medium hover:bg-hover',
            errors > 0 ? 'text-error-text' : 'text-warn-text',
          )}
        >
          <CircleAlert size={14} aria-hidden="true" />
          {findings.length} {findings.length === 1 ? 'problem' : 'problems'}
        </button>
      }
    >
      <FindingList findings={findings} actions={actions} onGo={() => setIsOpen(false)} />
    </Popover>
  )
}

/** The problems found by the check. A click goes to the block. */
export function FindingList({
  findings,
  actions,
  onGo,
}: {
  findings: readonly Finding[]
  actions: Actions
  onGo?: () => void
}) {
  return (
    <ul className="flex flex-col">
      {findings.map((finding) => (
        <li key={`${finding.path} ${finding.code}`}>
          <button
            type="button"
            disabled={finding.blockId === null}
            onClick={() => {
              if (finding.blockId !== null) actions.goTo(finding.blockId)
              onGo?.()
            }}
            className="flex w-full cursor-default items-start gap-2 rounded-md px-2 py-1.5 text-left text-sm not-disabled:hover:bg-hover"
          >
            <CircleAlert
              size={14}
              aria-label={finding.level === 'error' ? 'Error' : 'Warning'}
              className={classes('mt-0.5 shrink-0', finding.level === 'error' ? 'text-error' : 'text-warn')}
            />
            <span className="min-w-0 break-words">
              {finding.blockName && <span className="font-medium">{finding.blockName}: </span>}
              {finding.message}
            </span>
          </button>
        </li>
      ))}
    </ul>
  )
}
