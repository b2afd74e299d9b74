import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import { FormDialog } from '../../parts/dialog.tsx'
import { SelectField, TextField } from '../../parts/field.tsx'
import { newSecret } from './new-secret.ts'
import { SecretShown } from './webhook-form.tsx'
import { type Webhook, webhooksQuery } from './webhook-queries.ts'

/** Rotates the secret of a webhook subscription. For a while, deliveries can also be signed with the old secret. */
export function RotateSecret({
  workflowId,
  webhook,
  onClose,
}: {
  workflowId: string
  webhook: Webhook
  onClose: () => void
}) {
  const [secret, setSecret] = useState(newSecret)
  const [keepS, setKeepS] = useState('3600')
  const [isRotated, setIsRotated] = useState(false)
  const queries = useQueryClient()
  const hasOne = webhook.secret === 'set'
  const rotate = async () => {
    await call('POST /api/editor/workflows/:id/webhooks/:webhookId/rotate-secret', {
      params: { id: workflowId, webhookId: webhook.id },
      body: { secret, ...(hasOne && { keepPreviousForS: Number(keepS) }) },
    })
    setIsRotated(true)
    await queries.invalidateQueries(webhooksQuery(workflowId))
  }
  if (isRotated) return <SecretShown secret={secret} onClose={onClose} />
  return (
    <FormDialog
      title={hasOne ? 'Rotate secret' : 'Sign deliveries'}
      submit={hasOne ? 'Rotate secret' : 'Set secret'}
      onClose={onClose}
      onSubmit={rotate}
    >
      <TextField
        label="Secret"
        note="Randomly generated. Enter your own if the receiver already has one."
        required
        maxLength={1000}
        className="font-mono text-xs"
        value={secret}
        onChange={setSecret}
      />
      {hasOne && (
        <SelectField
          label="Previous secret"
          note="While it is valid, svc-signature carries two signatures, the previous one first."
          value={keepS}
          onChange={setKeepS}
          options={[
            { value: '0', label: 'Expires immediately' },
            { value: '3600', label: 'Valid for 1 hour' },
            { value: '21600', label: 'Valid for 6 hours' },
            { value: '86400', label: 'Valid for 24 hours' },
          ]}
        />
      )}
    </FormDialog>
  )
}
