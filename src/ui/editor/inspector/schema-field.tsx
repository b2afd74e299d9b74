import { Braces, List } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { Check } from '../../parts/check.tsx'
import { Input, Select, type Tied } from '../../parts/field.tsx'
import { CodeField } from './code-field.tsx'
import { freeName, Rows } from './rows.tsx'
import { type RowType, rowsOf, type SchemaRow, schemaOf } from './schema-rows.ts'

/** A JSON schema of an object, edited as rows or, if rows cannot express it, as JSON. */
export function SchemaField({
  label,
  add,
  value,
  onChange,
  readOnly,
  tied,
}: {
  label: string
  /** The label of the add button. */
  add: string
  value: unknown
  onChange: (value: unknown) => void
  readOnly: boolean
  tied: Tied
}) {
  // Keeps the edited rows as long as they represent the value: two rows may temporarily have the same name.
  const [written, setWritten] = useState<SchemaRow[]>()
  const meant = rowsOf(value)
  const isWritten = written !== undefined && JSON.stringify(schemaOf(written)) === JSON.stringify(value)
  const rows = isWritten ? written : meant
  const [view, setView] = useState<'rows' | 'json'>(rows ? 'rows' : 'json')
  if (!rows || view === 'json') {
    return (
      <div className="flex flex-col items-start gap-1.5">
        <div className="w-full">
          <CodeField language="json" label={label} value={value} onChange={onChange} readOnly={readOnly} tied={tied} />
        </div>
        {rows ? (
          <Button size="small" look="quiet" icon={<List size={13} />} onClick={() => setView('rows')}>
            Edit as fields
          </Button>
        ) : (
          <p className="text-xs text-muted">This schema cannot be edited as a list of fields.</p>
        )}
      </div>
    )
  }
  return (
    <Rows
      label={label}
      items={rows}
      onChange={(next) => {
        setWritten(next)
        onChange(schemaOf(next))
      }}
      readOnly={readOnly}
      fresh={(): SchemaRow => ({
        ...{ name: freeName('field', rows, ({ name }) => name), type: 'string' as const, required: true },
      })}
      add={add}
      remove="Remove field"
      aside={
        <Button size="small" look="quiet" icon={<Braces size={13} />} onClick={() => setView('json')}>
          {' '}
          Edit as JSON
        </Button>
      }
    >
      {(row, at, change) => <SchemaRowFields row={row} at={at} change={change} readOnly={readOnly} />}
    </Rows>
  )
}

function SchemaRowFields({
  row,
  at,
  change,
  readOnly,
}: {
  row: SchemaRow
  at: number
  change: (part: Partial<SchemaRow>) => void
  readOnly: boolean
}) {
  return (
    <>
      <div className="flex gap-1.5">
        <Input
          aria-label={`Name of field ${at + 1}`}
          placeholder="Name"
          value={row.name}
          readOnly={readOnly}
          onChange={(event) => change({ name: event.target.value })}
        />
        <Select
          aria-label={`Type of field ${at + 1}`}
          value={row.type}
          disabled={readOnly}
          options={types}
          onChange={(event) => change({ type: event.target.value as RowType })}
          className="max-w-30"
        />
      </div>
      {row.type === 'enum' && (
        <Input
          aria-label={`Choices of field ${at + 1}`}
          placeholder="Choices, separated by commas"
          defaultValue={row.choices?.join(', ')}
          readOnly={readOnly}
          onChange={(event) => change({ choices: listOf(event.target.value) })}
        />
      )}
      <div className="flex items-center gap-2">
        <Input
          aria-label={`Description of field ${at + 1}`}
          placeholder="Description"
          value={row.description ?? ''}
          readOnly={readOnly}
          onChange={(event) => change({ description: event.target.value })}
        />
        <Check
          label="Required"
          checked={row.required}
          disabled={readOnly}
          onChange={(required) => change({ required })}
          className="shrink-0 text-xs!"
        />
      </div>
    </>
  )
}

const types: readonly { value: RowType; label: string }[] = [
  { value: 'string', label: 'string' },
  { value: 'number', label: 'number' },
  { value: 'integer', label: 'integer' },
  { value: 'boolean', label: 'boolean' },
  { value: 'enum', label: 'one of' },
  { value: 'object', label: 'object' },
  { value: 'string[]', label: 'strings' },
  { value: 'number[]', label: 'numbers' },
  { value: 'object[]', label: 'objects' },
]

function listOf(text: string): string[] {
  return [...new Set(text.split(',').map((part) => part.trim()))].filter((part) => part !== '')
}
