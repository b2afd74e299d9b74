import { useQuery } from '@tanstack/react-query'
import { Select, type Tied } from '../../../parts/field.tsx'
import { credentialsQuery } from '../../../shell/credentials-query.ts'
import { useWorkspace } from '../../../shell/workspace.tsx'

/** Selects a credential of the workspace. */
export function CredentialSelect({
  value,
  onChange,
  readOnly,
  tied,
}: {
  value: string
  onChange: (name: string | undefined) => void
  readOnly: boolean
  tied: Tied
}) {
  const { id } = useWorkspace()
  const { data } = useQuery(credentialsQuery(id))
  const options = (data?.data ?? []).map(({ name, hosts }) => ({ value: name, label: `${name} (${hosts.join(', ')})` }))
  const isKnown = value === '' || options.some((option) => option.value === value)
  const none = { value: '', label: options.length === 0 ? 'None: create one under Settings, Credentials' : 'None' }
  return (
    <Select
      {...tied}
      value={value}
      disabled={readOnly}
      onChange={(event) => onChange(event.target.value === '' ? undefined : event.target.value)}
      options={[none, ...options, ...(isKnown ? [] : [{ value, label: value }])]}
    />
  )
}
