import { Pin } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { Dialog, DialogActions, DialogBody } from '../../parts/dialog.tsx'
import { ErrorNote } from '../../parts/states.tsx'
import { useDraft } from '../editing.tsx'
import { CodeEditor } from '../inspector/code-editor.tsx'
import { outputIn } from './output-text.ts'

/** Edits the output that is pinned to a block, or that will be. */
export function PinDialog({
  blockId,
  output,
  error: firstError,
  onSave,
  onClose,
}: {
  blockId: string
  output: Readonly<Record<string, unknown>>
  error?: unknown
  onSave: (output: Record<string, unknown>) => Promise<void>
  onClose: () => void
}) {
  const name = useDraft(({ document }) => document.blocks[blockId]?.name ?? 'this block')
  const [text, setText] = useState(() => JSON.stringify(output, null, 2))
  const [error, setError] = useState(firstError)
  const [busy, setBusy] = useState(false)
  const save = async () => {
    if (busy) return
    setBusy(true)
    try {
      await onSave(outputIn(text))
      onClose()
    } catch (refusal) {
      setError(refusal)
      setBusy(false)
    }
  }
  return (
    <Dialog
      onClose={onClose}
      title={`Pin an output of ${name}`}
      description="Runs of the draft use it instead of running the block. Deployed versions run the block."
    >
      <DialogBody>
        <CodeEditor
          language="json"
          label="Output (JSON)"
          text={text}
          onChange={(next) => {
            setText(next)
            setError(undefined)
          }}
          readOnly={false}
          suggestions={[]}
          describedBy={undefined}
        />
        <ErrorNote error={error ?? null} />
      </DialogBody>
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" icon={<Pin size={14} />} busy={busy} onClick={() => void save()}>
          Pin
        </Button>
      </DialogActions>
    </Dialog>
  )
}
