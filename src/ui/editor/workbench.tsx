import { lazy, Suspense, useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react'
import { useHistoryState } from 'wouter/use-browser-location'
import { useToast } from '../parts/toast.tsx'
import { useSignedInNotice } from '../shell/use-signed-in-notice.ts'
import { useAssistant } from './assistant/assistant-context.tsx'
import { AssistantsDialog } from './assistants-dialog.tsx'
import { Canvas } from './canvas/canvas.tsx'
import { useCanvasCommands } from './canvas/canvas-commands.tsx'
import { CanvasControls } from './canvas/canvas-controls.tsx'
import { useCanvasKeys } from './canvas/canvas-keys.ts'
import { CanvasMenu } from './canvas/menus/canvas-menu.tsx'
import { editorActions } from './canvas/menus/editor-actions.ts'
import { SelectionToolbar } from './canvas/menus/selection-toolbar.tsx'
import { FirstQuestions } from './canvas/questions/first-questions.tsx'
import { WaitingCounts } from './canvas/waiting-counts.tsx'
import { useActions } from './document/actions.ts'
import type { Point } from './document/document.ts'
import type { Place } from './document/new-block.ts'
import { useDraft, useEditing } from './editing.tsx'
import type { EditorDialog } from './editor-dialog.ts'
import { EditorHeader } from './editor-header.tsx'
import { FindBar, type FindRequest } from './find/find-bar.tsx'
import type { Query } from './find/search.ts'
import { selectedText } from './find/selected-text.ts'
import { Findings, useShownFindings } from './findings.tsx'
import { Inspector } from './inspector/inspector.tsx'
import { InputDialogs } from './listen/input-dialogs.tsx'
import type { WrittenInputs } from './listen/run-dialog.tsx'
import { ConnectPalette } from './palette/connect-palette.tsx'
import { Palette } from './palette/palette.tsx'
import { QuickPalette } from './palette/quick-palette.tsx'
import { usePinToggle } from './pins/use-pin-toggle.ts'
import { Console } from './run/console.tsx'
import { useFailureFocus } from './run/use-failure-focus.ts'
import { useLatestRun } from './run/use-latest-run.ts'
import { type Lacking, useRuns } from './run/use-runs.ts'
import type { Autosave } from './save/autosave.ts'
import { ConflictNotice } from './save/conflict-notice.tsx'
import { RestoreNotice } from './save/restore-notice.tsx'
import type { UnsavedCopies } from './save/unsaved-copies.ts'
import type { Together } from './together/together.ts'
import { useLiveDraft } from './together/use-live-draft.ts'
import { Tour } from './tour.tsx'
import { DraftTriggerDetails } from './trigger-details.ts'
import { checkDraft } from './variable-creator.tsx'
import { WorkflowDialog } from './workflow-dialog.tsx'

const SeparateDialog = lazy(async () => ({
  default: (await import('./canvas/menus/separate-dialog.tsx')).SeparateDialog,
}))
const AssistantPanel = lazy(async () => ({
  default: (await import('./assistant/assistant-panel.tsx')).AssistantPanel,
}))
const TestsDialog = lazy(async () => ({ default: (await import('./tests/tests-dialog.tsx')).TestsDialog }))
const DeployDialog = lazy(async () => ({ default: (await import('./deploy/deploy-dialog.tsx')).DeployDialog }))

type Offer = { place: Place; at: { x: number; y: number }; steps: boolean }

/** The editor around one draft: header, palette, canvas, inspector and console. */
export function Workbench({
  autosave,
  together,
  copies,
}: {
  autosave: Autosave
  together: Together
  copies: UnsavedCopies
}) {
  const { draft, run, held, workflowId, readOnly } = useEditing()
  const { save, findings, checked, triggerDetails } = useSyncExternalStore(autosave.watch, autosave.info)
  const shown = useShownFindings(findings, checked)
  const actions = useActions()
  const toast = useToast()
  useSignedInNotice()
  const assistant = useAssistant()
  const pinOf = usePinToggle()
  const [lacking, setLacking] = useState<Lacking>()
  const runs = useRuns(autosave, actions.goTo, setLacking)
  const showLatestRun = useLatestRun(useFailureFocus(actions.goTo))
  const [offer, setOffer] = useState<Offer>()
  const [connecting, setConnecting] = useState<string>()
  const [isPaletteOpen, setIsPaletteOpen] = useState(!readOnly && innerWidth >= 1100)
  const [showMap, setShowMap] = useState(false)
  const [dialog, setDialog] = useState(useDialogOfAddress())
  const [finding, setFinding] = useState<FindRequest>()
  const lastQuery = useRef<{ query?: Query }>({})
  const written = useRef<WrittenInputs>({ texts: new Map() })
  const inspector = useRef<HTMLElement>(null)
  const one = useDraft(({ selected, document }) => {
    const [only] = selected
    return selected.size === 1 && only !== undefined && document.blocks[only] ? only : undefined
  })
  const phase = useSyncExternalStore(run.watch, () => run.state().phase)
  useEffect(() => {
    if (dialog === 'deploy') held.showAll()
  }, [dialog, held])
  const hasConsole = phase !== 'idle'
  // Before the canvas learns its new size.
  useLayoutEffect(() => {
    if (hasConsole) actions.keepWhole()
  }, [hasConsole, actions])
  useLiveDraft(together, autosave)
  useInitialCheck(autosave, workflowId)

  const onOffer = (place: Place, at?: Point) => {
    const box = document.querySelector('.react-flow')?.getBoundingClientRect()
    const middle = box
      ? { x: box.x + box.width / 2 - 160, y: box.y + Math.min(120, box.height / 5) }
      : { x: 200, y: 120 }
    const steps = place.onEdge !== undefined || (place.from !== undefined && draft.state().selected.size === 1)
    if (!readOnly) setOffer({ place, at: at ?? middle, steps })
  }
  const openPalette = () => onOffer(actions.nextPlace(false))
  const separate = () => {
    const found = actions.separate('')
    if ('reason' in found) toast.show({ text: found.reason, tone: 'error' })
    else setDialog('separate')
  }
  /** Selects the block that has the focus. */
  const selectFocused = () => {
    const id = document.activeElement?.closest('.react-flow__node')?.getAttribute('data-id')
    if (id && draft.state().document.blocks[id] && !draft.state().selected.has(id)) draft.select([id])
  }
  const onMap = () => setShowMap((shown) => !shown)
  const actionsAt = (at?: { page: Point; canvas: Point }) =>
    editorActions({
      ...{ actions, runs, state: draft.state(), readOnly, onOffer, onMap },
      ...(at ? { at } : {}),
      onConnect: setConnecting,
      onFind: () => {
        const text = selectedText()
        setFinding(text === undefined ? {} : { text })
      },
      // The inspector of a block that was only just selected is drawn in the next frame.
      onInspect: () => requestAnimationFrame(() => focusFirst(inspector.current)),
      onSeparate: separate,
      onRunWith: () => readOnly || setDialog('run'),
      pinOf,
    })
  const isCovered = () => [lacking, offer, connecting, dialog].some((each) => each !== undefined) || hasOverlay()
  useCanvasKeys({
    actions,
    list: () => actionsAt(),
    onEscape: () => draft.select([]),
    onFocused: selectFocused,
    isCovered,
  })
  const version = useDraft(({ selected, selectedEdges, document }) =>
    [readOnly, selectedEdges.size === 1, ...[...selected].map((id) => `${id} ${document.blocks[id]?.enabled}`)].join(),
  )
  useCanvasCommands({ actions, list: actionsAt(), readOnly, onDialog: setDialog, version })
  return (
    <Findings value={shown}>
      <EditorHeader autosave={autosave} actions={actions} runs={runs} onDialog={setDialog} />
      {save.phase === 'conflict' && <ConflictNotice autosave={autosave} conflict={save} />}
      {!readOnly && <RestoreNotice autosave={autosave} copies={copies} />}
      <div className="relative flex min-h-0 flex-1">
        {isPaletteOpen && (
          <Palette
            onPick={(type) => actions.add(type, actions.nextPlace(type.kind === 'trigger'))}
            onClose={() => setIsPaletteOpen(false)}
          />
        )}
        <div className="flex min-w-0 flex-1 flex-col">
          {!readOnly && <Tour onRun={() => void runs.runAll()} onCall={() => setDialog('endpoint')} />}
          <section
            id="canvas"
            aria-label="Workflow"
            tabIndex={-1}
            onFocus={(event) => event.target === event.currentTarget && actions.focusHome()}
            className="relative min-h-0 flex-1 outline-none max-md:pb-11"
          >
            <CanvasMenu actionsAt={actionsAt}>
              <WaitingCounts>
                <Canvas
                  onOffer={(place, at) => setOffer({ place, at, steps: true })}
                  onAdd={(type, place) => actions.addByType(type, place)}
                  onBlock={actions.reveal}
                  onDrawn={showLatestRun}
                  showMap={showMap}
                >
                  <FirstQuestions
                    onStart={(type) => actions.start(type)}
                    onNext={(type) => actions.continueStart(type)}
                    onAll={openPalette}
                  />
                </Canvas>
              </WaitingCounts>
            </CanvasMenu>
            <SelectionToolbar list={actionsAt} />
            {finding && (
              <FindBar
                request={finding}
                remembered={lastQuery.current}
                actions={actions}
                onClose={() => setFinding(undefined)}
              />
            )}
            <CanvasControls
              actions={actions}
              onPalette={isPaletteOpen ? undefined : () => (innerWidth >= 768 ? setIsPaletteOpen(true) : openPalette())}
              onQuick={openPalette}
              showMap={showMap}
              onMap={onMap}
            />
          </section>
          {hasConsole && <Console actions={actions} runs={runs} onTests={() => setDialog('tests')} />}
        </div>
        <DraftTriggerDetails value={triggerDetails}>
          {one && <Inspector key={one} ref={inspector} blockId={one} actions={actions} runs={runs} />}
        </DraftTriggerDetails>
        {assistant?.isOpen && (
          <Suspense>
            <AssistantPanel assistant={assistant} onApplied={actions.fitSoon} />
          </Suspense>
        )}
      </div>
      {offer && (
        <QuickPalette
          at={offer.at}
          steps={offer.steps}
          onClose={() => setOffer(undefined)}
          onPick={(type) => {
            setOffer(undefined)
            actions.add(type, type.kind === 'trigger' ? actions.nextPlace(true) : offer.place)
          }}
        />
      )}
      {connecting && <ConnectPalette from={connecting} onClose={() => setConnecting(undefined)} />}
      {dialog === 'about' && <WorkflowDialog onClose={() => setDialog(undefined)} />}
      {dialog === 'assistants' && <AssistantsDialog onClose={() => setDialog(undefined)} />}
      <InputDialogs
        lacking={lacking}
        isCustom={dialog === 'run'}
        runs={runs}
        written={written.current}
        onGo={actions.goTo}
        onClose={() => {
          setLacking(undefined)
          setDialog(undefined)
        }}
      />
      <Suspense>
        {dialog === 'separate' && <SeparateDialog actions={actions} onClose={() => setDialog(undefined)} />}
        {dialog === 'tests' && <TestsDialog autosave={autosave} onClose={() => setDialog(undefined)} />}
      </Suspense>
      {(dialog === 'deploy' || dialog === 'versions' || dialog === 'endpoint') && (
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

/**
 * Focuses the first field of the inspector, but not a button beside its label. The field may be a code editor that is
 * still loading.
 */
function focusFirst(inspector: HTMLElement | null, tries = 60): void {
  const form = inspector?.querySelector('[data-first]')
  const controls = form?.querySelectorAll<HTMLElement>('input, textarea, select, button, [data-code], .skeleton') ?? []
  const field = [...controls].find((control) => !control.closest('[data-label-line]'))
  const code = field?.shadowRoot?.querySelector<HTMLElement>('.cm-content')
  ;(code ?? field)?.focus()
  const isDone = document.activeElement === field
  if (field && !isDone && tries > 0) requestAnimationFrame(() => focusFirst(inspector, tries - 1))
}

/** Whether a menu, dialog or list is open. These receive the keyboard input. */
function hasOverlay(): boolean {
  return document.querySelector('[role=dialog], [role=menu], [role=alertdialog]') !== null
}

/** The dialog that a link of another screen opens. A reload does not open it again. */
function useDialogOfAddress(): EditorDialog | undefined {
  const state = useHistoryState<{ dialog?: EditorDialog } | null>()
  const [dialog] = useState(state?.dialog)
  useEffect(() => {
    if (dialog) history.replaceState(null, '')
  }, [dialog])
  return dialog
}

/** Checks the draft when it opens. Later, every save returns the check. */
function useInitialCheck(autosave: Autosave, workflowId: string): void {
  const { draft } = useEditing()
  useEffect(() => {
    void checkDraft(autosave, workflowId, draft.state)
  }, [autosave, draft, workflowId])
}
