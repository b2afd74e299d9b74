import { Play } from 'lucide-react'
import { type FormEvent, type KeyboardEvent, useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { Dialog, DialogActions, DialogBody } from '../../parts/dialog.tsx'
import { Field, TextArea } from '../../parts/field.tsx'
import { ProblemList } from '../../parts/problem-list.tsx'
import { useDraft, useEditing } from '../editing.tsx'
import type { RunRequest } from '../run/run-watch.ts'
import type { StartError } from '../run/start-error.ts'
import { startTriggers } from '../run/start-trigger.ts'
import { leading, type Runs } from '../run/use-runs.ts'
import { ListenSection } from './listen-section.tsx'
import type { WrittenInputs } from './run-dialog.tsx'

/** Asks for the message of a run that a chat trigger starts. The latest one is offered again. */
export function MessageDialog({
  runs,
  request,
  written,
  onGo,
  onClose,
}: {
  runs: Runs
  /** The run that lacks a message. */
  request: RunRequest
  written: WrittenInputs
  /** Goes to the block that prevents the run. */
  onGo: (blockId: string) => void
  onClose: () => void
}) {
  const { types } = useEditing()
  const document = useDraft((state) => state.document)
  const trigger = startTriggers(document, types).find(({ starts }) => starts === 'chat')
  const [text, setText] = useState(written.message ?? '')
  const [error, setError] = useState<StartError>()
  const [busy, setBusy] = useState(false)
  const isEmpty = text.trim() === ''
  const run = async (event: FormEvent) => {
    event.preventDefault()
    if (isEmpty || busy) return
    written.message = text
    setBusy(true)
    const startError = await runs.runWith({ ...request, trigger: 'chat', input: { input: text } })
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
  return (
    <Dialog
      onClose={onClose}
      title="Run with a message"
      description="A chat trigger starts this workflow, and blocks read its message. Run the draft once with this message, or listen for a real one."
    >
      <form onSubmit={run} className="flex min-h-0 flex-1 flex-col">
        <DialogBody>
          <Field label="Message">
            {(tied) => (
              <TextArea
                {...tied}
                value={text}
                onChange={(event) => {
                  setText(event.target.value)
                  setError(undefined)
                }}
                onFocus={(event) => event.target.select()}
                onKeyDown={sendWithEnter}
              />
            )}
          </Field>
          {trigger && <ListenSection blockId={trigger.id} trigger="chat" runs={listening} />}
          {error && (
            <div role="alert" className="rounded-md bg-error-soft px-3 py-2 text-sm text-error-text">
              <p>{error.text}</p>
              {error.problems.length > 0 && (
                <ProblemList
                  problems={leading(error.problems, (blockId) => {
                    onClose()
                    onGo(blockId)
                  })}
                  more={error.more}
                  className="mt-1"
                />
              )}
            </div>
          )}
        </DialogBody>
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" icon={<Play size={14} />} busy={busy} disabled={isEmpty}>
            Run
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}

/** As on a chat page: `Enter` sends, and `Shift Enter` begins a line. */
function sendWithEnter(event: KeyboardEvent<HTMLTextAreaElement>): void {
  if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
  event.preventDefault()
  event.currentTarget.form?.requestSubmit()
}
