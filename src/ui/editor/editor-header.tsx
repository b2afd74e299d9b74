import { Check, ChevronDown, CircleAlert, CloudOff, Play, Rocket, Sparkles, Square, TriangleAlert } from 'lucide-react'
import { useContext, useEffect, useState, useSyncExternalStore } from 'react'
import { useHistoryState } from 'wouter/use-browser-location'
import { Badge } from '../parts/badge.tsx'
import { Button, IconButton } from '../parts/button.tsx'
import { classes } from '../parts/class-names.ts'
import { Spinner } from '../parts/spinner.tsx'
import { Crumbs } from '../shell/page.tsx'
import { keyOf } from '../shell/palette/key-table.ts'
import { useWorkspace } from '../shell/workspace.tsx'
import { useAssistant } from './assistant/assistant-context.tsx'
import type { Actions } from './document/actions.ts'
import { useDraft, useEditing } from './editing.tsx'
import type { EditorDialog } from './editor-dialog.ts'
import { useStatus } from './editor-queries.ts'
import { FindingsButton } from './finding-list.tsx'
import { Findings } from './findings.tsx'
import { NameField } from './name-field.tsx'
import type { Runs } from './run/use-runs.ts'
import type { Autosave, SaveState } from './save/autosave.ts'
import { PeopleHere } from './together/people-here.tsx'
import { WorkflowMenu } from './workflow-menu.tsx'

/** The header: breadcrumbs, save state, problems, and actions on the whole workflow. */
export function EditorHeader({
  autosave,
  actions,
  runs,
  onDialog,
}: {
  autosave: Autosave
  actions: Actions
  runs: Runs
  onDialog: (dialog: EditorDialog) => void
}) {
  const { workflowId, run, draft, readOnly } = useEditing()
  const workspace = useWorkspace()
  const { save, revision } = useSyncExternalStore(autosave.watch, autosave.info)
  const findings = useContext(Findings)
  const name = useDraft(({ document }) => document.name)
  const folder = useDraft(({ document }) => document.folder)
  const phase = useSyncExternalStore(run.watch, () => run.state().phase)
  const isRunning = phase === 'running' || phase === 'starting'
  const { data: status } = useStatus(workflowId, revision)
  const hasChanges = status !== undefined && (status.version === null || status.needsRedeployment)
  const isNew = useIsNew()
  const list = `/w/${workspace.id}/workflows`
  return (
    <header className="flex min-h-12 shrink-0 flex-wrap items-center gap-x-2 gap-y-1.5 border-b border-line bg-bg px-3 py-1.5 max-md:gap-x-1">
      <Crumbs
        crumbs={[{ label: 'Workflows', href: list }, ...(folder ? [{ label: folder }] : [])]}
        title={
          <NameField
            label="Workflow name"
            name={name}
            readOnly={readOnly}
            isNew={isNew}
            onEnter={focusFirstQuestion}
            onRename={(next) => draft.perform({ kind: 'describe', name: next })}
            className="font-semibold"
          />
        }
      />
      {readOnly ? <ViewOnlyMark /> : <SaveMark save={save} />}
      <PeopleHere onGo={actions.goTo} />
      <FindingsButton findings={findings} actions={actions} />
      {status && (
        <DeployedMark version={status.version} stale={status.needsRedeployment} onOpen={() => onDialog('deploy')} />
      )}
      <AssistantButton />
      {!readOnly && <RunButtons isRunning={isRunning} runs={runs} onDialog={onDialog} />}
      {!readOnly && (
        <Button
          look={hasChanges ? 'accent' : 'plain'}
          icon={<Rocket size={14} />}
          onClick={() => onDialog('deploy')}
          className="max-md:w-8 max-md:px-0!"
        >
          <span className="max-md:sr-only">Deploy</span>
        </Button>
      )}
      <WorkflowMenu autosave={autosave} version={status?.version ?? null} onDialog={onDialog} />
    </header>
  )
}

/** Opens and closes the assistant. Renders nothing while the assistant is off. */
function AssistantButton() {
  const assistant = useAssistant()
  if (!assistant) return null
  return (
    <IconButton
      label="Assistant"
      icon={<Sparkles size={16} />}
      pressed={assistant.isOpen}
      onClick={() => assistant.setOpen(!assistant.isOpen)}
    />
  )
}

/** The same buttons before, during and after a run, so that a button keeps the focus. */
function RunButtons({
  isRunning,
  runs,
  onDialog,
}: {
  isRunning: boolean
  runs: Runs
  onDialog: (dialog: EditorDialog) => void
}) {
  return (
    <div className="flex items-center">
      <Button
        look={isRunning ? 'danger' : 'primary'}
        icon={isRunning ? <Square size={13} /> : <Play size={14} />}
        // The second press of a double click must not stop what the first one started.
        onClick={({ detail }) => (isRunning ? detail < 2 && void runs.cancel() : void runs.runAll())}
        title={isRunning ? 'Stop the run' : 'Run the draft (Ctrl+Enter)'}
        className="rounded-r-none"
      >
        {isRunning ? 'Stop' : 'Run'}
      </Button>
      <IconButton
        label="Run with custom input"
        keys={keyOf('run-with')}
        icon={<ChevronDown size={14} />}
        // A disabled button would lose the focus.
        aria-disabled={isRunning}
        onClick={() => isRunning || onDialog('run')}
        className={classes(
          'w-6 rounded-l-none',
          isRunning
            ? 'border border-l-0 border-line-strong bg-surface'
            : 'border-l border-on-accent/30 bg-accent text-on-accent! not-disabled:hover:bg-accent-hover!',
        )}
      />
    </div>
  )
}

/** Whether the workflow was created just now. Reads it once, so that a reload does not select the name again. */
function useIsNew(): boolean {
  const state = useHistoryState<{ isNew?: boolean } | null>()
  const [isNew] = useState(state?.isNew === true)
  useEffect(() => {
    if (isNew) history.replaceState(null, '')
  }, [isNew])
  return isNew
}

function focusFirstQuestion(): void {
  document.querySelector<HTMLElement>('[data-first-question] button')?.focus()
}

/** Viewers change nothing, so nothing is saved for them. */
function ViewOnlyMark() {
  return (
    <span title="You are a viewer of this workspace. Its owner can make you an editor.">
      <Badge>View only</Badge>
    </span>
  )
}

function SaveMark({ save }: { save: SaveState }) {
  const mark = {
    saved: { icon: <Check size={13} />, text: 'Saved', look: 'text-muted' },
    unsaved: {
      icon: <span aria-hidden="true" className="size-1.5 rounded-full bg-muted md:hidden" />,
      text: 'Unsaved',
      look: 'text-muted',
    },
    saving: { icon: <Spinner size={12} />, text: 'Saving…', look: 'text-muted' },
    failed: { icon: <CloudOff size={13} />, text: 'Not saved', look: 'text-error-text' },
    rejected: { icon: <CircleAlert size={13} />, text: 'Cannot be saved', look: 'text-error-text' },
    conflict: { icon: <TriangleAlert size={13} />, text: 'Choose changes', look: 'text-warn-text' },
  }[save.phase]
  const isUsual = save.phase === 'saved' || save.phase === 'saving' || save.phase === 'unsaved'
  return (
    <span
      role="status"
      title={'message' in save ? save.message : undefined}
      className={classes('flex shrink-0 items-center gap-1 px-1 text-xs', mark.look)}
    >
      {mark.icon}
      {/* A narrow page has room for the workflow's name only if the usual states are icons. */}
      <span className={classes(isUsual && 'max-md:sr-only')}>{mark.text}</span>
    </span>
  )
}

/** Which version is live. Amber when the saved draft differs from it. A click shows the differences. */
function DeployedMark({ version, stale, onOpen }: { version: number | null; stale: boolean; onOpen: () => void }) {
  if (version === null) return <span className="px-1 text-xs text-muted max-md:hidden">Not deployed</span>
  return (
    <button
      type="button"
      title={
        stale ? `New runs use version ${version}. Show what changed since.` : 'The draft matches the live version.'
      }
      onClick={onOpen}
      className={classes(
        'flex h-6 cursor-default items-center gap-1.5 rounded-full px-2 text-xs max-md:hidden',
        stale ? 'bg-warn-soft font-medium text-warn-text' : 'text-muted hover:bg-hover',
      )}
    >
      <span aria-hidden="true" className={classes('size-1.5 rounded-full', stale ? 'bg-warn' : 'bg-ok')} />
      {stale ? `v${version} is live, draft changed` : `v${version} is live`}
    </button>
  )
}
