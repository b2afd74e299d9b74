import { Play } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { Dialog, DialogActions, DialogBody } from '../../parts/dialog.tsx'
import { Field, TextArea } from '../../parts/field.tsx'
import { useEditing } from '../editing.tsx'
import { type MissingValue, rememberedTexts, rememberTexts, valueOfText } from './missing-values.ts'
import type { StartError } from './start-error.ts'
import type { Runs } from './use-runs.ts'

/** Asks for a value for each reference that has none, before a block runs alone. */
export function ValuesDialog({
  blockId,
  missing,
  runs,
  onClose,
}: {
  blockId: string
  missing: readonly MissingValue[]
  runs: Runs
  onClose: () => void
}) {
  const { workflowId, draft } = useEditing()
  const [texts, setTexts] = useState<Record<string, string>>(() => {
    const known = rememberedTexts(workflowId)
    return Object.fromEntries(missing.map(({ source }) => [source, known[source] ?? '']))
  })
  const [error, setError] = useState<StartError>()
  const [busy, setBusy] = useState(false)
  const name = draft.state().document.blocks[blockId]?.name ?? 'this block'
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (busy) return
    setBusy(true)
    rememberTexts(workflowId, texts)
    const values = Object.fromEntries(Object.entries(texts).map(([source, text]) => [source, valueOfText(text)]))
    const refused = await runs.runOnlyWith(blockId, values)
    setBusy(false)
    if (refused) setError(refused)
    else onClose()
  }
  return (
    <Dialog
      onClose={onClose}
      title={`Run ${name} alone`}
      description="These references have no value in the latest run. Write text or JSON for each."
    >
      <form onSubmit={submit} className="flex min-h-0 flex-1 flex-col">
        <DialogBody>
          {missing.map(({ source, message }, index) => (
            <Field key={source} label={source} note={message === `${source} has no value.` ? undefined : message}>
              {(tied) => (
                <TextArea
                  {...tied}
                  rows={1}
                  autoFocus={index === 0}
                  value={texts[source] ?? ''}
                  onChange={({ target }) => setTexts((all) => ({ ...all, [source]: target.value }))}
                  className="min-h-8! font-mono text-xs"
                />
              )}
            </Field>
          ))}
          {error && (
            <p role="alert" className="rounded-md bg-error-soft px-3 py-2 text-sm text-error-text">
              {[error.text, ...error.problems.map(({ text }) => text)].join(' ')}
            </p>
          )}
        </DialogBody>
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" icon={<Play size={14} />} busy={busy}>
            Run this block
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
