import { Select, type Tied } from '../../../parts/field.tsx'
import { useEditing, useWorkflowNames } from '../../editing.tsx'

/** Selects another workflow of the workspace. */
export function WorkflowSelect({
  value,
  onChange,
  readOnly,
  tied,
}: {
  value: string
  onChange: (id: string) => void
  readOnly: boolean
  tied: Tied
}) {
  const names = useWorkflowNames()
  const { workflowId } = useEditing()
  const options = [...names].filter(([id]) => id !== workflowId).map(([id, name]) => ({ value: id, label: name }))
  const isKnown = value === '' || names.has(value)
  return (
    <Select
      {...tied}
      value={value}
      disabled={readOnly}
      onChange={(event) => onChange(event.target.value)}
      options={[{ value: '', label: 'Select a workflow' }, ...options, ...(isKnown ? [] : [{ value, label: value }])]}
    />
  )
}
