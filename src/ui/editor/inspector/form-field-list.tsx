import { useState } from 'react'
import {
  fieldFormatLabels,
  fieldFormats,
  fieldTypeLabels,
  fieldTypes,
  mayChoose,
} from '../../../domain/workflow/field-kinds.ts'
import { Check } from '../../parts/check.tsx'
import { Input, Select, TextArea } from '../../parts/field.tsx'
import { textOf } from '../canvas/block-summary.ts'
import { type Change, freeName, Rows } from './rows.tsx'

type Field = {
  name: string
  type: string
  format?: string
  label?: string
  description?: string
  options?: readonly string[]
  required?: boolean
}

const types = fieldTypes.map((value) => ({ value, label: fieldTypeLabels[value] }))
const formats = fieldFormats.map((value) => ({ value, label: fieldFormatLabels[value] }))

/** The fields that people fill in: those of a form, or of an approval. */
export function FormFieldList({
  value,
  onChange,
  readOnly,
}: {
  value: unknown
  onChange: (value: unknown) => void
  readOnly: boolean
}) {
  const fields = (Array.isArray(value) ? value : []) as Field[]
  return (
    <Rows
      label="Fields"
      items={fields}
      onChange={onChange}
      readOnly={readOnly}
      fresh={(): Field => ({ name: freeName('field', fields, ({ name }) => name), type: 'string' })}
      add="Add field"
      remove="Remove field"
      ordered
    >
      {(field, at, change) => <FieldRow field={field} number={at + 1} change={change} readOnly={readOnly} />}
    </Rows>
  )
}

function FieldRow({
  field,
  number,
  change,
  readOnly,
}: {
  field: Field
  number: number
  change: (part: Change<Field>) => void
  readOnly: boolean
}) {
  return (
    <>
      <div className="flex gap-1.5">
        <Input
          aria-label={`Name of field ${number}`}
          placeholder="Name"
          value={textOf(field.name)}
          readOnly={readOnly}
          onChange={(event) => change({ name: event.target.value })}
        />
        <Select
          aria-label={`Type of field ${number}`}
          value={field.type}
          disabled={readOnly}
          options={types}
          onChange={(event) => change(typeChange(field, event.target.value))}
          className="max-w-28"
        />
      </div>
      <Input
        aria-label={`Label of field ${number}`}
        placeholder="Label on the page"
        value={textOf(field.label)}
        readOnly={readOnly}
        onChange={(event) => change({ label: event.target.value || undefined })}
      />
      {field.type === 'string' && (
        <Select
          aria-label={`Format of field ${number}`}
          value={field.format ?? 'line'}
          disabled={readOnly}
          options={formats}
          onChange={(event) => change({ format: event.target.value === 'line' ? undefined : event.target.value })}
        />
      )}
      {mayChoose(field) && <Choices field={field} number={number} change={change} readOnly={readOnly} />}
      <div className="flex items-center gap-2">
        <Input
          aria-label={`Description of field ${number}`}
          placeholder="Description"
          value={textOf(field.description)}
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
  )
}

/** Edits the choices, one on each line. */
function Choices({ field: { options }, number, change, readOnly }: Parameters<typeof FieldRow>[0]) {
  const [typed, setTyped] = useState('')
  const listed = Array.isArray(options) ? options : []
  // Keeps the typed text, because an empty line is not a choice yet. Undo and other editors change the list itself.
  const text = sameLines(linesOf(typed), listed) ? typed : listed.join('\n')
  return (
    <TextArea
      aria-label={`Choices of field ${number}`}
      placeholder="Choices, one on each line"
      rows={Math.min(8, Math.max(2, listed.length + 1))}
      value={text}
      readOnly={readOnly}
      onChange={(event) => {
        setTyped(event.target.value)
        const lines = linesOf(event.target.value)
        change({ options: lines.length > 0 ? lines : undefined })
      }}
    />
  )
}

/** Removes the members that the new type cannot have. */
function typeChange({ options }: Field, type: string): Change<Field> {
  return {
    type,
    ...(type === 'string' ? {} : { format: undefined }),
    ...(mayChoose({ type }) || options === undefined ? {} : { options: undefined }),
  }
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

function sameLines(one: readonly string[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((line, index) => line === other[index])
}
