import { useId } from 'react'
import { Field, Input } from '../../parts/field.tsx'
import { foldersIn } from './folder-tree.ts'
import type { WorkflowOverview } from './workflow-queries.ts'

/** A field for a folder path. It suggests the existing folders. */
export function FolderField({
  folder,
  onChange,
  workflows,
}: {
  folder: string
  onChange: (folder: string) => void
  workflows: readonly WorkflowOverview[]
}) {
  const list = useId()
  return (
    <Field label="Folder" optional note="For example sales/europe. New folders are created automatically.">
      {(tied) => (
        <>
          <Input
            {...tied}
            list={list}
            maxLength={500}
            value={folder}
            onFocus={(event) => event.target.select()}
            onChange={(event) => onChange(event.target.value)}
          />
          <datalist id={list}>
            {foldersIn(workflows).map((path) => (
              <option key={path} value={path} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  )
}

/** `/a//b/` → `a/b`; null when nothing is left. */
export function tidiedFolder(folder: string): string | null {
  const steps = folder.split('/').map((step) => step.trim())
  return steps.filter((step) => step !== '').join('/') || null
}
