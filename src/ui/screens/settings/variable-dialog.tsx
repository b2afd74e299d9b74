import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import { FormDialog } from '../../parts/dialog.tsx'
import { Field, TextArea, TextField } from '../../parts/field.tsx'
import { Switch } from '../../parts/switch.tsx'
import { environmentQuery } from '../../shell/environment-query.ts'

/** Creates an environment variable, or sets a new value of one. */
export function VariableDialog({
  workspaceId,
  variable,
  name: wanted = '',
  value: known = '',
  onSaved,
  onClose,
}: {
  workspaceId: string
  /** The variable to change; absent for a new one. */
  variable?: { name: string; plain: boolean } | undefined
  /** The suggested name and value of a new variable. */
  name?: string
  value?: string
  onSaved?: (name: string) => void
  onClose: () => void
}) {
  const queries = useQueryClient()
  const [name, setName] = useState(variable?.name ?? wanted)
  const [value, setValue] = useState(known)
  const [isSecret, setIsSecret] = useState(!variable?.plain)
  const { data } = useQuery(environmentQuery(workspaceId))
  const isIn = (list: typeof data) => !variable && list?.data.some((other) => other.name === name.trim()) === true
  const isTaken = isIn(data)
  const taken = `${name.trim()} exists already. Choose another name, or set its value under Settings.`
  const save = async () => {
    // Creating a variable must not replace the value of another one, which nobody can read again.
    if (isIn(await queries.fetchQuery({ ...environmentQuery(workspaceId), staleTime: 0 }))) throw new Error(taken)
    const params = { id: workspaceId, name: name.trim() }
    await call('PUT /api/workspaces/:id/environment/:name', { params, body: { value, plain: !isSecret } })
    // Closed first: the reloaded list has the new name, which would count as taken.
    onSaved?.(params.name)
    onClose()
    await queries.invalidateQueries(environmentQuery(workspaceId))
  }
  return (
    <FormDialog
      title={variable ? `Set ${variable.name}` : 'New environment variable'}
      submit={variable ? 'Save' : 'Create variable'}
      onClose={onClose}
      onSubmit={save}
    >
      {!variable && (
        <TextField
          label="Name"
          note="Letters, digits and _, such as WEATHER_TOKEN. All workflows of the workspace can read it."
          error={isTaken && taken}
          autoFocus={wanted === ''}
          required
          pattern="[A-Za-z_][A-Za-z0-9_]*"
          maxLength={100}
          className="font-mono"
          value={name}
          onChange={setName}
        />
      )}
      <Field label="Value" note={variable && 'The current value cannot be shown. This value replaces it.'}>
        {(tied) => (
          <TextArea
            {...tied}
            autoFocus={variable !== undefined || wanted !== ''}
            required
            rows={3}
            autoComplete="off"
            className="font-mono"
            value={value}
            onChange={(event) => setValue(event.target.value)}
          />
        )}
      </Field>
      <div>
        <Switch label="Secret: hide it in logs" checked={isSecret} onChange={setIsSecret} />
      </div>
    </FormDialog>
  )
}
