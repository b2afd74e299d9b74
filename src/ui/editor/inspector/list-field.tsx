import { ArrowDown, ArrowUp, Plus, Trash2 } from 'lucide-react'
import type { ParameterSchema } from '../../../http/routes/editor/blocks.ts'
import { Button, IconButton } from '../../parts/button.tsx'
import { Input, Select } from '../../parts/field.tsx'
import { textOf } from '../block-summary.ts'
import { useDraft } from '../editing.tsx'
import { focusLastRow } from './focus-last.ts'
import { TemplateField } from './template-field.tsx'

type Item = Record<string, unknown>

/** A list of things with members: branches of a condition, routes, messages, assignments. */
export function ListField({
  name,
  schema,
  mode,
  value,
  onChange,
  readOnly,
}: {
  name: string
  schema: ParameterSchema
  mode: string
  value: unknown
  onChange: (value: unknown) => void
  readOnly: boolean
}) {
  const items = (Array.isArray(value) ? value : []) as Item[]
  const properties = Object.entries(schema.items?.properties ?? {})
  const change = (at: number, part: Item) =>
    onChange(
      items.map((item, index) =>
        index === at
          ? Object.fromEntries(Object.entries({ ...item, ...part }).filter(([, each]) => each !== undefined))
          : item,
      ),
    )
  const swap = (at: number, by: number) => {
    const next = [...items]
    const [item] = next.splice(at, 1)
    next.splice(at + by, 0, item!)
    onChange(next)
  }
  const add = () => {
    const fresh = Object.fromEntries(
      properties.flatMap(([key, property]) =>
        schema.items?.required?.includes(key)
          ? [[key, key === 'id' ? freeId(items) : (property.default ?? property.enum?.[0] ?? '')]]
          : [],
      ),
    )
    onChange([...items, fresh])
  }
  return (
    <fieldset aria-label={schema.title ?? name} className="flex flex-col gap-2">
      {items.map((item, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an item is its place in the list
        <div data-row key={at} className="flex gap-1.5 rounded-lg border border-line p-2">
          <div className="flex min-w-0 flex-1 flex-col gap-1.5">
            {properties.map(([key, property]) => (
              <Member
                key={key}
                name={key}
                schema={property}
                mode={mode}
                value={item[key]}
                label={`${property.title ?? key} ${at + 1}`}
                onChange={(next) => change(at, { [key]: next })}
                readOnly={readOnly}
              />
            ))}
          </div>
          {!readOnly && (
            <div className="flex flex-col">
              {items.length > 1 && (
                <>
                  <IconButton
                    label="Up"
                    icon={<ArrowUp size={13} />}
                    size="small"
                    disabled={at === 0}
                    onClick={() => swap(at, -1)}
                  />
                  <IconButton
                    label="Down"
                    icon={<ArrowDown size={13} />}
                    size="small"
                    disabled={at === items.length - 1}
                    onClick={() => swap(at, 1)}
                  />
                </>
              )}
              <IconButton
                label="Remove"
                icon={<Trash2 size={13} />}
                size="small"
                disabled={items.length <= (schema.minItems ?? 0)}
                onClick={() => onChange(items.filter((_, index) => index !== at))}
              />
            </div>
          )}
        </div>
      ))}
      {!readOnly && (
        <Button
          size="small"
          look="quiet"
          icon={<Plus size={14} />}
          className="self-start"
          onClick={(event) => {
            add()
            focusLastRow(event.currentTarget)
          }}
        >
          Add
        </Button>
      )}
      {name === 'conditions' && (
        <p className="text-xs text-muted">The first that is true is taken, else the branch “else”.</p>
      )}
    </fieldset>
  )
}

type MemberProps = {
  name: string
  schema: ParameterSchema
  mode: string
  value: unknown
  label: string
  onChange: (value: unknown) => void
  readOnly: boolean
}

function Member({ name, schema, mode, value, label, onChange, readOnly }: MemberProps) {
  const variables = useDraft(({ document }) => document.variables)
  const tied = { 'aria-label': label }
  if (schema.enum) {
    return (
      <Select
        {...tied}
        value={textOf(value ?? schema.default)}
        disabled={readOnly}
        options={schema.enum.map((one) => ({ value: one, label: one }))}
        onChange={(event) => onChange(event.target.value)}
      />
    )
  }
  if (name === 'name' && mode === 'template' && variables && Object.keys(variables).length > 0) {
    const names = Object.keys(variables)
    const own = textOf(value)
    return (
      <Select
        {...tied}
        value={own}
        disabled={readOnly}
        options={[...(names.includes(own) ? [] : [own]), ...names].map((one) => ({ value: one, label: one }))}
        onChange={(event) => onChange(event.target.value)}
      />
    )
  }
  if (name === 'id') {
    return (
      <Input
        {...tied}
        placeholder="Name of the branch"
        value={textOf(value)}
        readOnly={readOnly}
        onChange={(event) => onChange(event.target.value)}
        className="font-mono text-xs"
      />
    )
  }
  return (
    <TemplateField
      value={textOf(value)}
      placeholder={schema.title ?? name}
      mono={name === 'expression'}
      readOnly={readOnly}
      onChange={onChange}
      tied={tied}
    />
  )
}

function freeId(items: readonly Item[]): string {
  for (let number = items.length + 1; ; number += 1) {
    const id = `branch${number}`
    if (!items.some((item) => item['id'] === id)) return id
  }
}
