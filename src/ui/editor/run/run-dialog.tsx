import { Play } from 'lucide-react'
import { lazy, type RefObject, Suspense, useEffect, useRef, useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { Dialog, DialogActions, DialogBody } from '../../parts/dialog.tsx'
import { SelectField } from '../../parts/field.tsx'
import { hasMod } from '../../parts/keys.tsx'
import { ProblemList } from '../../parts/problem-list.tsx'
import { exampleInput } from '../document/example-input.ts'
import { useDraft, useEditing } from '../editing.tsx'
import type { RunTrigger } from './run-watch.ts'
import type { StartError } from './start-error.ts'
import { leading, type Runs } from './use-runs.ts'

const CodeEditor = lazy(async () => ({ default: (await import('../inspector/code-editor.tsx')).CodeEditor }))

/** The input typed for each trigger. It is kept while the editor is open, because inputs are often tried again. */
export type WrittenInputs = { trigger?: string; texts: Map<string, string> }

/** Starts a manual run with custom input and a selectable trigger. */
export function RunDialog({
  runs,
  written,
  onGo,
  onClose,
}: {
  runs: Runs
  written: WrittenInputs
  /** Goes to the block that prevents the run. */
  onGo: (blockId: string) => void
  onClose: () => void
}) {
  const { types } = useEditing()
  const document = useDraft((state) => state.document)
  const triggers = Object.values(document.blocks).flatMap((block) => {
    const starts = types.get(block.type)?.starts
    return starts && block.enabled !== false ? [{ type: block.type, starts, name: block.name }] : []
  })
  // The same default trigger as the service's.
  const usual = ['manual', 'api'].map((kind) => triggers.find(({ starts }) => starts === kind)).find(Boolean)
  const [wanted, setWanted] = useState(written.trigger)
  const trigger = triggers.find(({ type }) => type === wanted) ?? usual ?? triggers[0]
  const example = JSON.stringify(trigger ? exampleInput(document, trigger.type) : {}, null, 2)
  const [, setEdits] = useState(0)
  const text = (trigger && written.texts.get(trigger.type)) ?? example
  const [error, setError] = useState<StartError>()
  const [busy, setBusy] = useState(false)
  const write = (next: string) => {
    if (trigger) written.texts.set(trigger.type, next)
    setEdits((edits) => edits + 1)
    setError(undefined)
  }
  const run = async () => {
    if (!trigger || busy) return
    const read = readJson(text)
    if ('error' in read) {
      setError({ text: read.error, problems: [], more: 0 })
      return
    }
    setBusy(true)
    const startError = await runs.runWith({ trigger: trigger.starts as RunTrigger, input: read.value })
    setBusy(false)
    if (startError === undefined) onClose()
    else setError(startError)
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
      description="Runs the draft once with this input. Omitted fields use their values from the input format."
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
          </div>
        ) : (
          <p className="text-sm text-muted">A run needs a trigger. Add one to the workflow first.</p>
        )}
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
        <Button look="primary" icon={<Play size={14} />} busy={busy} disabled={!trigger} onClick={() => void run()}>
          Run
        </Button>
      </DialogActions>
    </Dialog>
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
