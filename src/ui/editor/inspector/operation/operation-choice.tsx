import { useQuery } from '@tanstack/react-query'
import { Field, Select } from '../../../parts/field.tsx'
import { connectorsQuery } from '../../../shell/connectors-query.ts'
import { useWorkspace } from '../../../shell/workspace.tsx'

/** Selects a service and one of its operations. */
export function OperationChoice({
  connector,
  operation,
  onChange,
  readOnly,
  errorOf,
}: {
  connector: string
  operation: string
  onChange: (chosen: { connector: string; operation: string }) => void
  readOnly: boolean
  errorOf: (path: string) => string | undefined
}) {
  const { id } = useWorkspace()
  const { data } = useQuery(connectorsQuery(id))
  const all = data?.data ?? []
  const chosen = all.find((each) => each.id === connector)
  const services = all.map((each) => ({ value: each.id, label: each.name }))
  const operations = (chosen?.operations ?? []).map((each) => ({ value: each.id, label: each.label }))
  return (
    <>
      <Field label="Service" error={errorOf('connector')}>
        {(tied) => (
          <Select
            {...tied}
            value={connector}
            disabled={readOnly}
            onChange={(event) => onChange({ connector: event.target.value, operation: '' })}
            options={withPresent(services, connector, 'Select a service')}
          />
        )}
      </Field>
      {connector !== '' && (
        <Field
          label="Operation"
          error={errorOf('operation')}
          note={chosen?.operations.find(({ id: one }) => one === operation)?.description ?? undefined}
        >
          {(tied) => (
            <Select
              {...tied}
              value={operation}
              disabled={readOnly}
              onChange={(event) => onChange({ connector, operation: event.target.value })}
              options={withPresent(operations, operation, 'Select an operation')}
            />
          )}
        </Field>
      )}
    </>
  )
}

type Option = { value: string; label: string }

/** Includes the present value even if it is not known. Otherwise the select would show a different one. */
function withPresent(options: readonly Option[], present: string, empty: string): Option[] {
  const isKnown = present === '' || options.some(({ value }) => value === present)
  return [
    ...(present === '' ? [{ value: '', label: empty }] : []),
    ...options,
    ...(isKnown ? [] : [{ value: present, label: present }]),
  ]
}
