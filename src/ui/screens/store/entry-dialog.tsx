import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import { FormDialog } from '../../parts/dialog.tsx'
import { Field, TextArea, TextField } from '../../parts/field.tsx'
import { useToast } from '../../parts/toast.tsx'
import { type Entry, type EntryScope, scopeQuery } from './entry-queries.ts'

/** Adds an entry, or shows one and changes it. */
export function EntryDialog({
  scope,
  entry,
  mayWrite,
  onClose,
}: {
  scope: EntryScope
  entry: Entry | undefined
  mayWrite: boolean
  onClose: () => void
}) {
  const queries = useQueryClient()
  const toast = useToast()
  const [key, setKey] = useState(entry?.key ?? '')
  const [text, setText] = useState(() => (entry ? JSON.stringify(entry.value, null, 2) : ''))
  const [seconds, setSeconds] = useState(() => secondsLeft(entry))
  const fault = faultOf(text)
  const save = async () => {
    if (!mayWrite) return onClose()
    if (fault) throw new Error(fault)
    const ttlMs = seconds === '' ? undefined : Math.max(1, Math.round(Number(seconds) * 1000))
    await call('PUT /api/workspaces/:id/store/:key', {
      params: { id: scope.workspaceId, key },
      query: scopeQuery(scope.workflowId),
      body: { value: JSON.parse(text) as unknown, ...(ttlMs !== undefined && { ttlMs }) },
    })
    await queries.invalidateQueries({ queryKey: ['store', scope.workspaceId] })
    toast.show({ text: `${key} was saved.` })
    onClose()
  }
  return (
    <FormDialog
      title={entry ? 'Entry' : 'New entry'}
      submit={mayWrite ? (entry ? 'Save' : 'Add entry') : 'Close'}
      width="wide"
      onClose={onClose}
      onSubmit={save}
    >
      <TextField
        label="Key"
        note={entry ? undefined : 'Such as visits/pricing. An entry with this key is replaced.'}
        className="font-mono"
        autoFocus={!entry}
        required
        maxLength={512}
        readOnly={entry !== undefined}
        value={key}
        onChange={setKey}
      />
      <Field label="Value" note="JSON: a text in quotes, a number, an object, a list." error={text !== '' && fault}>
        {(tied) => (
          <TextArea
            {...tied}
            autoFocus={entry !== undefined}
            required
            rows={10}
            className="font-mono text-xs"
            readOnly={!mayWrite}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
      <TextField
        label="Expires in seconds"
        optional
        note="If empty, the entry stays until it is deleted."
        type="number"
        min="0.001"
        step="any"
        readOnly={!mayWrite}
        value={seconds}
        onChange={setSeconds}
      />
    </FormDialog>
  )
}

function faultOf(text: string): string | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch {
    return 'This is not valid JSON. Put a text in double quotes.'
  }
}

function secondsLeft(entry: Entry | undefined): string {
  if (!entry?.expiresAt) return ''
  return String(Math.max(1, Math.round((Date.parse(entry.expiresAt) - Date.now()) / 1000)))
}
