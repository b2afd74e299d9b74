import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../../api/call.ts'
import { messageOf } from '../../../api/message-of.ts'
import { FormDialog } from '../../../parts/dialog.tsx'
import { Field, Input } from '../../../parts/field.tsx'
import { useToast } from '../../../parts/toast.tsx'
import { useDeleteWorkflow } from '../../../screens/workflows/workflow-actions.ts'
import type { Actions } from '../../document/actions.ts'
import { useEditing } from '../../editing.tsx'
import { offerToDelete } from './offer-to-delete.ts'

/** Asks for the name of the workflow that takes the selected blocks, creates and deploys it. */
export function SeparateDialog({ actions, onClose }: { actions: Actions; onClose: () => void }) {
  const { draft, workspaceId } = useEditing()
  const queries = useQueryClient()
  const toast = useToast()
  const remove = useDeleteWorkflow(workspaceId)
  const [name, setName] = useState(`${draft.state().document.name} part`.slice(0, 200))
  const separate = async () => {
    const found = actions.separate(name.trim())
    if ('reason' in found) throw new Error(found.reason)
    const before = draft.state().document
    const { folder } = before
    const body = { ...found.created, workspaceId, ...(folder ? { folder } : {}) }
    const { id } = await call('POST /api/workflows', { body: body as never })
    if (draft.state().document !== before) throw new Error('The workflow has changed. Try again.')
    const { edits, id: caller } = found.editsFor(id)
    draft.perform(edits)
    draft.select([caller])
    onClose()
    void queries.invalidateQueries({ queryKey: ['workflow-names', workspaceId] })
    try {
      await call('POST /api/workflows/:id/deploy', { params: { id }, body: {} })
      toast.show({ text: `“${name.trim()}” has been created and deployed.` })
      offerToDelete(draft, { caller, name: name.trim(), remove: () => remove({ id, name: name.trim() }) }, toast)
    } catch (error) {
      toast.show({ text: `“${name.trim()}” must be deployed before it can run. ${messageOf(error)}`, tone: 'error' })
    }
  }
  return (
    <FormDialog
      title="Move into a separate workflow"
      description="A Workflow block takes the place of the selected blocks. It passes on the values that they read."
      width="small"
      submit="Move blocks"
      onClose={onClose}
      onSubmit={separate}
    >
      <Field label="Name">
        {(tied) => (
          <Input {...tied} value={name} maxLength={200} required onChange={(event) => setName(event.target.value)} />
        )}
      </Field>
    </FormDialog>
  )
}
