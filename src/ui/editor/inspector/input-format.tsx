import { Check } from '../../parts/check.tsx'
import { Input, Select } from '../../parts/field.tsx'
import { textOf } from '../canvas/block-summary.ts'
import { freeName, Rows } from './rows.tsx'

type InputField = { name: string; type: string; value?: unknown; required?: boolean; description?: string }

const types = ['string', 'number', 'boolean', 'object', 'array', 'files'].map((type) => ({ value: type, label: type }))

/** The fields that a caller can send. A manual run uses the `value` of each field. */
export function InputFormat({
  value,
  onChange,
  readOnly,
}: {
  value: unknown
  onChange: (value: unknown) => void
  readOnly: boolean
}) {
  const fields = (Array.isArray(value) ? value : []) as InputField[]
  return (
    <Rows
      label="Input format"
      items={fields}
      onChange={onChange}
      readOnly={readOnly}
      fresh={(): InputField => ({ name: freeName('field', fields, ({ name }) => name), type: 'string' })}
      add="Add field"
      remove="Remove field"
    >
      {(field, at, change) => (
        <>
          <div className="flex gap-1.5">
            <Input
              aria-label={`Name of field ${at + 1}`}
              placeholder="Name"
              value={field.name}
              readOnly={readOnly}
              onChange={(event) => change({ name: event.target.value })}
            />
            <Select
              aria-label={`Type of field ${at + 1}`}
              value={field.type}
              disabled={readOnly}
              options={types}
              onChange={(event) => change({ type: event.target.value })}
              className="max-w-26"
            />
          </div>
          <Input
            aria-label={`Value of field ${at + 1} for manual runs`}
            placeholder={
              field.type === 'object' || field.type === 'array'
                ? 'Value for manual runs, as JSON'
                : 'Value for manual runs'
            }
            value={textOf(field.value)}
            readOnly={readOnly}
            onChange={(event) =>
              change({ value: event.target.value === '' ? undefined : typed(event.target.value, field.type) })
            }
          />
          <div className="flex items-center gap-2">
            <Input
              aria-label={`Description of field ${at + 1}`}
              placeholder="Description"
              value={field.description ?? ''}
              readOnly={readOnly}
              onChange={(event) => change({ description: event.target.value || undefined })}
            />
            <Check
              label="Required"
              checked={field.required === true}
              disabled={readOnly}
              onChange={(required) => change({ required: required || undefined })}
              className="shrink-0 text-xs!"
            />
          </div>
        </>
      )}
    </Rows>
  )
}

/** Converts text to a value of the type, if the text represents one. */
function typed(text: string, type: string): unknown {
  if (type === 'number' && /^-?\d+(\.\d+)?$/.test(text)) return Number(text)
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  if (type === 'object' || type === 'array') {
    try {
      return JSON.parse(text) as unknown
    } catch {
      return text
    }
  }
  return text
}
