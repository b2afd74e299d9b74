import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { FormDialog } from '../parts/dialog.tsx'
import { FolderField, tidiedFolder } from '../screens/workflows/folder-field.tsx'
import { workflowsQuery } from '../screens/workflows/workflow-queries.ts'
import { useDraft, useEditing } from './editing.tsx'

/** Moves the open workflow to another folder. It is an edit like any other, so that it can be undone. */
export function MoveDialog({ onClose }: { onClose: () => void }) {
  const { draft, workspaceId } = useEditing()
  const { name, folder: current = '' } = useDraft(({ document }) => document)
  const { data: workflows = [] } = useQuery(workflowsQuery(workspaceId))
  const [folder, setFolder] = useState(current)
  const move = async () => {
    draft.perform({ kind: 'describe', folder: tidiedFolder(folder) ?? '' })
    onClose()
  }
  return (
    <FormDialog title={`Move ${name}`} width="small" submit="Move" onClose={onClose} onSubmit={move}>
      <FolderField folder={folder} onChange={setFolder} workflows={workflows} />
    </FormDialog>
  )
}
