import { Play } from 'lucide-react'
import { lazy, type RefObject, Suspense, useEffect, useRef, useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { Dialog, DialogActions, DialogBody } from '../../parts/dialog.tsx'
import { SelectField } from '../../parts/field.tsx'
import { hasMod } from '../../parts/keys.tsx'
import { ProblemList } from '../../parts/problem-list.tsx'
import { TimeAgo } from '../../parts/time-ago.tsx'
import { type Document, formatOf } from '../document/document.ts'
import { exampleInput } from '../document/example-input.ts'
import { useDraft, useEditing } from '../editing.tsx'
import type { RunRequest, RunTrigger } from '../run/run-watch.ts'
import type { StartError } from '../run/start-error.ts'
import { type StartTrigger, startTriggers, usualTrigger } from '../run/start-trigger.ts'
import { leading, type Runs } from '../run/use-runs.ts'
import { ListenSection } from './listen-section.tsx'
import { type LoggedRequest, useLoggedRequest } from './use-logged-request.ts'

const CodeEditor = lazy(async () => ({ default: (await import('../inspector/code-editor.tsx')).CodeEditor }))

/**
 * The input typed for each trigger, and the message for a chat. They are kept while the editor is open, because they
 * are often tried again.
 */
export type WrittenInputs = { trigger?: string; texts: Map<string, string>; message?: string }

/** Starts a manual run with custom input and a selectable trigger. */
export function RunDialog({
  runs,
  request,
  written,
  onGo,
  onClose,
}: {
  runs: Runs
  /** The run that lacks an input; undefined when the dialog was opened as such. */
  request: RunRequest | undefined
  written: WrittenInputs
  /** Goes to the block that prevents the run. */
  onGo: (blockId: string) => void
  onClose: () => void
}) {
  const { types } = useEditing()
  const document = useDraft((state) => state.document)
  const triggers = startTriggers(document, types)
  const usual = usualTrigger(triggers)
  const [wanted, setWanted] = useState(request ? usual?.type : written.trigger)
  const trigger = triggers.find(({ type }) => type === wanted) ?? usual
  const webhookId = trigger?.starts === 'webhook' ? trigger.id : undefined
  const logged = useLoggedRequest(webhookId)
  const example = JSON.stringify(logged?.fields ?? (trigger ? exampleInput(document, trigger.type) : {}), null, 2)
  const [, setEdits] = useState(0)
  const typed = trigger && written.texts.get(trigger.type)
  const text = typed ?? example
  const isLoading = typed === undefined && logged === undefined
  const [error, setError] = useState<StartError>()
  const [busy, setBusy] = useState(false)
  const write = (next: string) => {
    if (trigger) written.texts.set(trigger.type, next)
    setEdits((edits) => edits + 1)
    setError(undefined)
  }
  const run = async () => {
    if (!trigger || busy || isLoading) return
    const read = readJson(text)
    if ('error' in read) {
      setError({ text: read.error, problems: [], more: 0 })
      return
    }
    setBusy(true)
    const startError = await runs.runWith({ ...request, trigger: trigger.starts as RunTrigger, input: read.value })
    setBusy(false)
    if (startError === undefined) onClose()
    else setError(startError)
  }
  const listening: Runs = {
    ...runs,
    runListened: (token) => {
      onClose()
      return runs.runListened(token, request)
    },
  }
  const goTo = (blockId: string) => {
    onClose()
    onGo(blockId)
  }
  const latest = useRef(run)
  latest.current = run
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Enter' || !hasMod(event)) return
      event.preventDefault()
      void latest.current()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  const body = useRef<HTMLDivElement>(null)
  useEffect(() => focusCode(body), [])
  return (
    <Dialog
      onClose={onClose}
      focus={null}
      title="Run with custom input"
      description={request ? askingText(document, trigger) : plainText}
    >
      <DialogBody>
        {triggers.length > 1 && trigger && (
          <SelectField
            label="Trigger"
            value={trigger.type}
            options={triggers.map(({ type, name }) => ({ value: type, label: name }))}
            onChange={(next) => {
              written.trigger = next
              setWanted(next)
              setError(undefined)
            }}
          />
        )}
        {trigger ? (
          <div ref={body} className="flex flex-col gap-1">
            <div className="flex min-h-7 items-center justify-between">
              <span className="text-xs font-medium">Input (JSON)</span>
              {text !== example && (
                <Button size="small" look="quiet" onClick={() => write(example)}>
                  Reset
                </Button>
              )}
            </div>
            {isLoading ? (
              <div className="skeleton h-28" />
            ) : (
              <Suspense fallback={<div className="skeleton h-28" />}>
                <CodeEditor
                  key={trigger.type}
                  language="json"
                  label="Input"
                  text={text}
                  onChange={write}
                  readOnly={false}
                  suggestions={[]}
                  describedBy={undefined}
                />
              </Suspense>
            )}
            {webhookId !== undefined && text === example && <Origin logged={logged} />}
          </div>
        ) : (
          <p className="text-sm text-muted">A run needs a trigger. Add one to the workflow first.</p>
        )}
        {webhookId !== undefined && <ListenSection blockId={webhookId} trigger="webhook" runs={listening} />}
        {error && (
          <div role="alert" className="rounded-md bg-error-soft px-3 py-2 text-sm text-error-text">
            <p>{error.text}</p>
            {error.problems.length > 0 && (
              <ProblemList problems={leading(error.problems, goTo)} more={error.more} className="mt-1" />
            )}
          </div>
        )}
      </DialogBody>
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          look="primary"
          icon={<Play size={14} />}
          busy={busy}
          disabled={!trigger || isLoading}
          onClick={() => void run()}
        >
          Run
        </Button>
      </DialogActions>
    </Dialog>
  )
}

const plainText = 'Runs the draft once with this input. Omitted fields use their values from the input format.'

/** Why the run asks for its input. */
function askingText({ blocks }: Document, trigger: StartTrigger | undefined): string {
  if (trigger?.starts === 'webhook') {
    return 'A webhook trigger starts this workflow, and blocks read its request. Run the draft once with this request, or listen for a real one.'
  }
  const block = trigger && blocks[trigger.id]
  const format = block && formatOf(block)
  if (trigger?.starts === 'form') {
    return 'A form starts this workflow. Run the draft once with these values of its fields.'
  }
  const hasFormat = Array.isArray(format) && format.length > 0
  const reason = hasFormat ? 'Required fields have no value.' : 'Blocks read fields of the input.'
  return `${reason} Run the draft once with this input. To run without being asked, give the fields values in the input format of the trigger.`
}

/** Says where the shown request comes from. */
function Origin({ logged }: { logged: LoggedRequest | null | undefined }) {
  if (logged === undefined) return null
  return (
    <p className="text-xs text-muted">
      {logged ? (
        <>
          The latest logged request, <TimeAgo at={logged.at} />
        </>
      ) : (
        'An example with the fields that blocks read'
      )}
    </p>
  )
}

/** Focuses the code editor as soon as it has loaded. Returns how to stop waiting for it. */
function focusCode(body: RefObject<HTMLElement | null>): () => void {
  let frame = 0
  const look = (tries: number) => {
    const editor = body.current?.querySelector('[data-code]')
    editor?.shadowRoot?.querySelector<HTMLElement>('.cm-content')?.focus()
    // The dialog draws its content later, and may still be hidden.
    const isDone = editor && document.activeElement === editor
    if (!isDone && tries > 0) frame = requestAnimationFrame(() => look(tries - 1))
  }
  look(300)
  return () => cancelAnimationFrame(frame)
}

function readJson(text: string): { value: unknown } | { error: string } {
  if (text.trim() === '') return { value: {} }
  try {
    return { value: JSON.parse(text) as unknown }
  } catch (error) {
    return { error: `The input is not valid JSON:  ${error instanceof Error ? error.message : String(error)}` }
  }
}
