import { useState } from 'react'
import { call } from '../../api/call.ts'
import { FormDialog } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/field.tsx'
import { Switch } from '../../parts/switch.tsx'
import { localMinute } from './answer-values.ts'
import type { Pause } from './pause-queries.ts'

/** Changes when a pause ends by itself. */
export function ExtendDialog({
  workspaceId,
  pause,
  onClose,
  onChanged,
}: {
  workspaceId: string
  pause: Pause
  onClose: () => void
  onChanged: () => void
}) {
  const dayMs = 86_400_000
  const [isNever, setIsNever] = useState(pause.until === null)
  const [until, setUntil] = useState(() =>
    localMinute(pause.until === null ? Date.now() + dayMs : Date.parse(pause.until)),
  )
  const change = async () => {
    await call('POST /api/workspaces/:id/pauses/:contextId/extend', {
      params: { id: workspaceId, contextId: pause.contextId },
      body: { until: isNever ? null : new Date(until).toISOString() },
    })
    onChanged()
    onClose()
  }
  return (
    <FormDialog
      title="Change the end"
      description={
        pause.kind === 'wait'
          ? 'The run continues at this time.'
          : 'If nobody has answered by then, the run continues without an answer.'
      }
      width="small"
      submit="Change"
      onClose={onClose}
      onSubmit={change}
    >
      {pause.kind !== 'wait' && <Switch label="No end" checked={isNever} onChange={setIsNever} />}
      {!isNever && (
        <TextField
          label="Ends at"
          note="In your time zone, at most 400 days from now."
          type="datetime-local"
          required
          value={until}
          onChange={setUntil}
        />
      )}
    </FormDialog>
  )
}
