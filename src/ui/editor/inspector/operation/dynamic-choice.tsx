import { useQuery } from '@tanstack/react-query'
import { RefreshCw } from 'lucide-react'
import { useState } from 'react'
import type { ValueSchema } from '../../../../domain/connector/connector.ts'
import { call } from '../../../api/call.ts'
import { IconButton } from '../../../parts/button.tsx'
import { Select } from '../../../parts/field.tsx'
import { useWorkspace } from '../../../shell/workspace.tsx'
import { textOf } from '../../canvas/block-summary.ts'
import { TemplateField } from '../template-field.tsx'
import type { ChoiceSource } from './value-field.tsx'

/** A value from a list that the service itself provides, such as its channels, or one that the author writes. */
export function DynamicChoice({
  name,
  schema,
  value,
  onChange,
  readOnly,
  tied,
  choices: source,
}: {
  name: string
  schema: ValueSchema
  value: unknown
  onChange: (value: unknown) => void
  readOnly: boolean
  tied: { id: string }
  choices: ChoiceSource
}) {
  const { id } = useWorkspace()
  const written = textOf(Array.isArray(value) && value.length === 1 ? value[0] : value)
  const [isWritten, setIsWritten] = useState(/[<{]/.test(written))
  const { connector, operation, credential } = source
  const params = fixedOnly(source.params, name)
  const question = { workspaceId: id, connector, operation, parameter: name, credential, params }
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['choices', question],
    queryFn: async ({ signal }) => {
      const { data: found } = await call('POST /api/editor/connectors/choices', { body: question, signal })
      return found
    },
    enabled: credential !== '' && !isWritten && !readOnly,
    staleTime: 60_000,
    retry: false,
  })
  const asValue = (chosen: unknown) => (schema.type === 'array' && chosen !== undefined ? [chosen] : chosen)
  const text = (
    <TemplateField
      value={written}
      placeholder={textOf(schema.default)}
      readOnly={readOnly}
      onChange={(next) => onChange(next === '' ? undefined : asValue(next))}
      tied={tied}
    />
  )
  if (isWritten || readOnly || credential === '' || (!data && !isFetching)) {
    return (
      <>
        {text}
        {error && !isWritten && <p className="text-xs text-error-text">{error.message}</p>}
        {isWritten && credential !== '' && !readOnly && (
          <button type="button" className="self-start text-xs text-muted underline" onClick={() => setIsWritten(false)}>
            Choose from a list
          </button>
        )}
      </>
    )
  }
  const options = (data ?? []).map((choice) => ({ value: textOf(choice.value), label: choice.label }))
  const isKnown = written === '' || options.some((each) => each.value === written)
  return (
    <span className="flex gap-1.5">
      <span className="min-w-0 flex-1">
        <Select
          {...tied}
          value={written}
          disabled={isFetching && !data}
          options={[
            { value: '', label: isFetching ? 'Loading…' : 'Select…' },
            ...options,
            ...(isKnown ? [] : [{ value: written, label: written }]),
            { value: otherValue, label: 'Write a value…' },
          ]}
          onChange={({ target }) => {
            if (target.value === otherValue) setIsWritten(true)
            else onChange(asValue(data?.find((choice) => textOf(choice.value) === target.value)?.value))
          }}
        />
      </span>
      <IconButton label="Load the list again" icon={<RefreshCw size={14} />} onClick={() => void refetch()} />
    </span>
  )
}

const otherValue = '\0other'

/** A list can depend on other parameters, but only on those whose values are known before a run. */
function fixedOnly(params: Readonly<Record<string, unknown>>, without: string): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(params).filter(([name, value]) => name !== without && !/[<{]/.test(textOf(value)) && value !== ''),
  )
}
