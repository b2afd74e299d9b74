import { useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { call } from '../api/call.ts'
import { useToast } from '../parts/toast.tsx'
import { Canvas } from './canvas/canvas.tsx'
import { useCanvasCommands } from './canvas/canvas-commands.tsx'
import { CanvasControls } from './canvas/canvas-controls.tsx'
import { useCanvasKeys } from './canvas/canvas-keys.ts'
import { EmptyCanvas } from './canvas/empty-canvas.tsx'
import { useActions } from './document/actions.ts'
import { documentOf } from './document/document-of.ts'
import type { Place } from './document/new-block.ts'
import { useDraft, useEditing } from './editing.tsx'
import type { EditorDialog } from './editor-dialog.ts'
import { EditorHeader } from './editor-header.tsx'
import { loadWorkflow } from './editor-queries.ts'
import { Findings } from './findings.tsx'
import { Inspector } from './inspector/inspector.tsx'
import { ConnectPalette } from './palette/connect-palette.tsx'
import { Palette } from './palette/palette.tsx'
import { QuickPalette } from './palette/quick-palette.tsx'
import { Console } from './run/console.tsx'
import type { WrittenInputs } from './run/run-dialog.tsx'
import { useLatestRun } from './run/use-latest-run.ts'
import { useRuns } from './run/use-runs.ts'
import type { Autosave } from './save/autosave.ts'
import { ConflictNotice } from './save/conflict-notice.tsx'
import { Tour } from './tour.tsx'
import { DraftTriggerDetails } from './trigger-details.ts'
import { WorkflowDialog } from './workflow-dialog.tsx'

const RunDialog = lazy(async () => ({ default: (await import('./run/run-dialog.tsx')).RunDialog }))
const DeployDialog = lazy(async () => ({ default: (await import('./deploy/deploy-dialog.tsx')).DeployDialog }))

type Offer = { place: Place; at: { x: number; y: number }; steps: boolean }

/** The editor around one draft: header, palette, canvas, inspector and console. */
export function Workbench({ autosave }: { autosave: Autosave }) {
  const { draft, run, workflowId, readOnly } = useEditing()
  const { save, findings, triggerDetails } = useSyncExternalStore(autosave.watch, autosave.info)
  const actions = useActions()
  const showLatestRun = useLatestRun()
  const runs = useRuns(autosave, actions.goTo)
  const [offer, setOffer] = useState<Offer>()
  const [connecting, setConnecting] = useState<string>()
  const [isPaletteOpen, setIsPaletteOpen] = useState(!readOnly && innerWidth >= 1100)
  const [showMap, setShowMap] = useState(false)
  const [dialog, setDialog] = useState<EditorDialog>()
  const written = useRef<WrittenInputs>({ texts: new Map() })
  const inspector = useRef<HTMLElement>(null)
  const one = useDraft(({ selected, document }) => {
    const [only] = selected
    return selected.size === 1 && only !== undefined && document.blocks[only] ? only : undefined
  })
  const phase = useSyncExternalStore(run.watch, () => run.state().phase)
  useRemoteChanges(autosave, workflowId)
  useInitialCheck(autosave, workflowId)

  const openPalette = () => {
    const place = actions.nextPlace(false)
    const box = document.querySelector('.react-flow')?.getBoundingClientRect()
    const at = box ? { x: box.x + box.width / 2 - 160, y: box.y + Math.min(120, box.height / 5) } : { x: 200, y: 120 }
    if (!readOnly) setOffer({ place, at, steps: place.from !== undefined })
  }
  const isCovered = () => offer !== undefined || connecting !== undefined || dialog !== undefined || hasOverlay()
  useCanvasKeys({
    actions,
    onPalette: openPalette,
    onRun: () => void runs.runAll(),
    onRunWith: () => readOnly || setDialog('run'),
    onConnect: () => one && !readOnly && setConnecting(one),
    onInspect: () => focusFirst(inspector.current),
    onEscape: () => draft.select([]),
    isCovered,
  })
  useCanvasCommands({
    actions,
    readOnly,
    one,
    onPalette: openPalette,
    onConnect: setConnecting,
    onMap: () => setShowMap((shown) => !shown),
    onDialog: setDialog,
    runs,
  })
  return (
    <Findings value={findings}>
      <EditorHeader save={save} findings={findings} actions={actions} runs={runs} onDialog={setDialog} />
      {save.phase === 'conflict' && <ConflictNotice autosave={autosave} message={save.message} />}
      <div className="flex min-h-0 flex-1">
        {isPaletteOpen && (
          <Palette
            onPick={(type) => actions.add(type, actions.nextPlace(type.kind === 'trigger'))}
            onClose={() => setIsPaletteOpen(false)}
          />
        )}
        <div className="flex min-w-0 flex-1 flex-col">
          <div className="relative min-h-0 flex-1">
            <Canvas
              onOffer={(place, at) => setOffer({ place, at, steps: true })}
              onAdd={(type, place) => actions.addByType(type, place)}
              onBlock={actions.reveal}
              onWhole={showLatestRun}
              showMap={showMap}
            />
            <EmptyCanvas />
            <CanvasControls
              actions={actions}
              onPalette={isPaletteOpen ? undefined : () => (innerWidth >= 768 ? setIsPaletteOpen(true) : openPalette())}
              onQuick={openPalette}
              showMap={showMap}
              onMap={() => setShowMap((shown) => !shown)}
            />
            {!readOnly && <Tour onRun={() => void runs.runAll()} onCall={() => setDialog('endpoint')} />}
          </div>
          {phase !== 'idle' && <Console actions={actions} runs={runs} />}
        </div>
        <DraftTriggerDetails value={triggerDetails}>
          {one && <Inspector key={one} ref={inspector} blockId={one} actions={actions} runs={runs} />}
        </DraftTriggerDetails>
      </div>
      {offer && (
        <QuickPalette
          at={offer.at}
          steps={offer.steps}
          onClose={() => setOffer(undefined)}
          onPick={(type) => {
            setOffer(undefined)
            actions.add(type, offer.place)
          }}
        />
      )}
      {connecting && <ConnectPalette from={connecting} onClose={() => setConnecting(undefined)} />}
      {dialog === 'about' && <WorkflowDialog onClose={() => setDialog(undefined)} />}
      {dialog === 'run' && (
        <Suspense>
          <RunDialog runs={runs} written={written.current} onGo={actions.goTo} onClose={() => setDialog(undefined)} />
        </Suspense>
      )}
      {dialog && dialog !== 'about' && dialog !== 'run' && (
        <Suspense>
          <DeployDialog
            view={dialog}
            autosave={autosave}
            actions={actions}
            onView={setDialog}
            onClose={() => setDialog(undefined)}
          />
        </Suspense>
      )}
    </Findings>
  )
}

/** Focuses the first field of the inspector. It may be a code editor that is still loading. */
function focusFirst(inspector: HTMLElement | null, tries = 60): void {
  const form = inspector?.querySelector('[data-first]')
  const field = form?.querySelector<HTMLElement>('input, textarea, select, button, [data-code], .skeleton')
  const code = field?.shadowRoot?.querySelector<HTMLElement>('.cm-content')
  ;(code ?? field)?.focus()
  const isDone = document.activeElement === field
  if (field && !isDone && tries > 0) requestAnimationFrame(() => focusFirst(inspector, tries - 1))
}

/** Whether a menu, dialog or list is open. These receive the keyboard input. */
function hasOverlay(): boolean {
  return document.querySelector('[role=dialog], [role=menu], [role=alertdialog]') !== null
}

/** Checks the draft when it opens. Later, every save returns the check. */
function useInitialCheck(autosave: Autosave, workflowId: string): void {
  const { draft } = useEditing()
  useEffect(() => {
    const document = draft.state().document
    call('POST /api/editor/workflows/:id/check', { params: { id: workflowId }, body: document }).then(
      (check) => draft.state().document === document && autosave.setCheck(check),
      () => undefined,
    )
  }, [autosave, draft, workflowId])
}

/**
 * When the window regains focus, loads changes saved by others or by another tab, unless the draft has unsaved changes.
 */
function useRemoteChanges(autosave: Autosave, workflowId: string): void {
  const queries = useQueryClient()
  const toast = useToast()
  useEffect(() => {
    const onFocus = async () => {
      if (autosave.info().save.phase !== 'saved') return
      try {
        const found = await loadWorkflow(workflowId)
        if (found.revision === autosave.revision || autosave.info().save.phase !== 'saved') return
        autosave.adopt(documentOf(found), found.revision)
        toast.show({ text: 'Loaded changes that were made elsewhere.' })
        void queries.invalidateQueries({ queryKey: ['workflow-status', workflowId] })
      } catch {
        // The next save reports whether the service is reachable.
      }
    }
    addEventListener('focus', onFocus)
    return () => removeEventListener('focus', onFocus)
  }, [autosave, workflowId, queries, toast])
}
