import { Plus, Trash2 } from 'lucide-react'
import { Button, IconButton } from '../../parts/button.tsx'
import { Input, Select } from '../../parts/field.tsx'
import { textOf } from '../block-summary.ts'
import { focusLastRow } from './focus-last.ts'

type InputField = { name: string; type: string; value?: unknown; required?: boolean; description?: string }

const types = ['string', 'number', 'boolean', 'object', 'array', 'files'].map((type) => ({ value: type, label: type }))

/** The fields a caller may send. `Value` is what runs by hand take. */
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
  const change = (at: number, part: { [Key in keyof InputField]?: InputField[Key] | undefined }) =>
    onChange(
      fields.map((field, index) => {
        if (index !== at) return field
        return Object.fromEntries(Object.entries({ ...field, ...part }).filter(([, each]) => each !== undefined))
      }),
    )
  return (
    <fieldset aria-label="Input format" className="flex flex-col gap-2">
      {fields.map((field, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a field is its place in the list
        <div data-row key={at} className="flex flex-col gap-1.5 rounded-lg border border-line p-2">
          <div className="flex gap-1.5">
            <Input
              aria-label={`Name of field ${at + 1}`}
              placeholder="Name"
              value={field.name}
              readOnly={readOnly}
              onChange={(event) => change(at, { name: event.target.value })}
            />
            <Select
              aria-label={`Type of field ${at + 1}`}
              value={field.type}
              disabled={readOnly}
              options={types}
              onChange={(event) => change(at, { type: event.target.value })}
              className="max-w-26"
            />
            {!readOnly && (
              <IconButton
                label="Remove the field"
                icon={<Trash2 size={14} />}
                size="small"
                className="mt-1"
                onClick={() => onChange(fields.filter((_, index) => index !== at))}
              />
            )}
          </div>
          <Input
            aria-label={`Value of field ${at + 1} in runs by hand`}
            placeholder={
              field.type === 'object' || field.type === 'array'
                ? 'Value in runs by hand, as JSON'
                : 'Value in runs by hand'
            }
            value={textOf(field.value)}
            readOnly={readOnly}
            onChange={(event) =>
              change(at, { value: event.target.value === '' ? undefined : typed(event.target.value, field.type) })
            }
          />
          <div className="flex items-center gap-2">
            <Input
              aria-label={`Description of field ${at + 1}`}
              placeholder="Description"
              value={field.description ?? ''}
              readOnly={readOnly}
              onChange={(event) => change(at, { description: event.target.value || undefined })}
            />
            <label className="flex shrink-0 items-center gap-1.5 text-xs">
              <input
                type="checkbox"
                className="accent-accent"
                checked={field.required === true}
                disabled={readOnly}
                onChange={(event) => change(at, { required: event.target.checked || undefined })}
              />
              required
            </label>
          </div>
        </div>
      ))}
      {!readOnly && (
        <Button
          size="small"
          look="quiet"
          icon={<Plus size={14} />}
          className="self-start"
          onClick={(event) => {
            onChange([...fields, { name: freeName(fields), type: 'string' }])
            focusLastRow(event.currentTarget)
          }}
        >
          Add a field
        </Button>
      )}
    </fieldset>
  )
}

function freeName(fields: readonly InputField[]): string {
  for (let number = fields.length + 1; ; number += 1) {
    const name = `field${number}`
    if (!fields.some((field) => field.name === name)) return name
  }
}

/** A value as its type has it, where the text already is one. */
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
