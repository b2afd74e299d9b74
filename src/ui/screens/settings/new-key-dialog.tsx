import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import { useMe } from '../../api/session.ts'
import { FormDialog } from '../../parts/dialog.tsx'
import { SelectField, TextField } from '../../parts/field.tsx'
import { ShownOnceDialog } from '../../parts/shown-once.tsx'

/** The key of the query for API keys. */
export const keysKey = ['keys'] as const

/** Creates an API key and shows it once. */
export function NewKeyDialog({ onClose }: { onClose: () => void }) {
  const { user, workspaces, service } = useMe()
  const needsPassword = user.hasPassword && !service.noAuth
  const queries = useQueryClient()
  const [name, setName] = useState('')
  const [workspaceId, setWorkspaceId] = useState('')
  const [days, setDays] = useState('')
  const [currentPassword, setCurrentPassword] = useState('')
  const [apiKey, setApiKey] = useState<string>()
  const create = async () => {
    const expiresAt = days === '' ? null : new Date(Date.now() + Number(days) * 86_400_000).toISOString()
    const confirmation = needsPassword ? { currentPassword } : {}
    const body = { name: name.trim(), workspaceId: workspaceId || null, expiresAt, ...confirmation }
    setApiKey((await call('POST /api/editor/keys', { body })).apiKey)
    await queries.invalidateQueries({ queryKey: keysKey })
  }
  if (apiKey !== undefined) {
    return (
      <ShownOnceDialog
        title="Copy your API key now"
        description="It is shown only once. Millrace stores only its hash."
        label="New API key"
        text={apiKey}
        onClose={onClose}
      />
    )
  }
  return (
    <FormDialog title="New API key" width="small" submit="Create key" onClose={onClose} onSubmit={create}>
      <TextField
        label="Name"
        note="What uses this key, so you know later which one to revoke."
        autoFocus
        required
        maxLength={200}
        placeholder="Shop backend"
        value={name}
        onChange={setName}
      />
      <SelectField
        label="Access"
        value={workspaceId}
        onChange={setWorkspaceId}
        options={[
          { value: '', label: 'All your workspaces' },
          ...workspaces.map(({ id, name: label }) => ({ value: id, label: `Only ${label}` })),
        ]}
      />
      <SelectField
        label="Expires"
        value={days}
        onChange={setDays}
        options={[
          { value: '', label: 'Never' },
          { value: '7', label: 'In 7 days' },
          { value: '30', label: 'In 30 days' },
          { value: '90', label: 'In 90 days' },
          { value: '365', label: 'In one year' },
        ]}
      />
      {needsPassword && (
        <TextField
          label="Your password"
          note="A key keeps working after you sign out, so creating one needs your password."
          type="password"
          autoComplete="current-password"
          required
          value={currentPassword}
          onChange={setCurrentPassword}
        />
      )}
    </FormDialog>
  )
}
