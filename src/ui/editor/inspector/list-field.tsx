import type { ParameterSchema } from '../../../http/routes/editor/blocks.ts'
import { Input, Select } from '../../parts/field.tsx'
import { textOf } from '../canvas/block-summary.ts'
import { choiceLabel } from '../document/parameter-label.ts'
import { useDraft } from '../editing.tsx'
import { shownObject, withMember } from './object-members.ts'
import { freeName, Rows } from './rows.tsx'
import { usePlacedError } from './sides/run-error.tsx'
import { TemplateField } from './template-field.tsx'

type Item = Record<string, unknown>

/** A list of objects: branches of a condition, routes, messages, assignments. */
export function ListField({
  name,
  schema,
  value,
  onChange,
  readOnly,
}: {
  name: string
  schema: ParameterSchema
  value: unknown
  onChange: (value: unknown) => void
  readOnly: boolean
}) {
  const placed = usePlacedError()
  const items = (Array.isArray(value) ? value : []) as Item[]
  const properties = Object.entries(schema.items?.properties ?? {})
  const fresh = () =>
    Object.fromEntries(
      properties.flatMap(([key, property]) =>
        schema.items?.required?.includes(key)
          ? [
              [
                key,
                key === 'id'
                  ? freeName('branch', items, ({ id }) => id)
                  : (property.default ?? property.enum?.[0] ?? ''),
              ],
            ]
          : [],
      ),
    )
  return (
    <>
      <Rows
        label={schema.title ?? name}
        items={items}
        onChange={onChange}
        readOnly={readOnly}
        fresh={fresh}
        least={schema.minItems ?? 0}
        ordered
      >
        {(item, at, change) =>
          properties.map(([key, property]) => (
            <Member
              key={key}
              name={key}
              schema={property}
              value={item[key]}
              isVariable={name === 'assign' && key === 'name'}
              failure={key === 'expression' && placed?.branch === item['id'] ? placed?.message : undefined}
              label={`${property.title ?? key} ${at + 1}`}
              onChange={(next) => change({ [key]: next })}
              readOnly={readOnly}
            />
          ))
        }
      </Rows>
      {name === 'conditions' && (
        <p className="text-xs text-muted">The first true condition is followed; otherwise, the “else” branch.</p>
      )}
    </>
  )
}

type MemberProps = {
  name: string
  /** Whether it names a run variable. */
  isVariable: boolean
  /** The error of the shown pass, if it belongs to this member. */
  failure: string | undefined
  schema: ParameterSchema
  value: unknown
  label: string
  onChange: (value: unknown) => void
  readOnly: boolean
}

function Member({ name, isVariable, failure, schema, value, label, onChange, readOnly }: MemberProps) {
  const variables = useDraft(({ document }) => document.variables)
  const tied = { 'aria-label': label }
  if (schema.enum) {
    return (
      <Select
        {...tied}
        value={textOf(value ?? schema.default)}
        disabled={readOnly}
        options={schema.enum.map((one) => ({ value: one, label: choiceLabel(one, schema) }))}
        onChange={(event) => onChange(event.target.value)}
      />
    )
  }
  if (isVariable && variables && Object.keys(variables).length > 0) {
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
  const object = shownObject(schema, value)
  if (object) return <NumberPair {...{ schema, value: object, label, onChange, readOnly }} />
  if (name === 'id') {
    return (
      <Input
        {...tied}
        placeholder="Branch name"
        value={textOf(value)}
        readOnly={readOnly}
        onChange={(event) => onChange(event.target.value)}
        className="font-mono text-xs"
      />
    )
  }
  const isExpression = name === 'expression'
  const field = (
    <TemplateField
      value={textOf(value)}
      placeholder={schema.title ?? name}
      mono={isExpression}
      readOnly={readOnly}
      onChange={onChange}
      tied={{ ...tied, ...(failure === undefined ? {} : { 'aria-invalid': true as const }) }}
      preview={isExpression ? 'expression' : 'template'}
    />
  )
  if (failure === undefined) return field
  return (
    <div className="flex min-w-0 flex-1 flex-col gap-1">
      {field}
      <p
        role="alert"
        className="rounded-md bg-error-soft px-2 py-1 text-xs break-words whitespace-pre-wrap text-error-text"
      >
        {failure}
      </p>
    </div>
  )
}

/** The fields of an object of short values, side by side, such as the lowest and the highest score of a metric. */
function NumberPair({
  schema,
  value,
  label,
  onChange,
  readOnly,
}: Pick<MemberProps, 'schema' | 'label' | 'onChange' | 'readOnly'> & { value: Readonly<Record<string, unknown>> }) {
  return (
    <fieldset aria-label={label} className="flex flex-wrap gap-1.5">
      {Object.entries(schema.properties ?? {}).map(([name, member]) => (
        // biome-ignore lint/a11y/noLabelWithoutControl: the field is inside
        <label key={name} className="flex min-w-24 flex-1 flex-col gap-1 text-xs text-muted">
          {member.title ?? name}
          <Input
            inputMode="decimal"
            value={textOf(value[name])}
            readOnly={readOnly}
            onChange={(event) => onChange(withMember(value, name, event.target.value, member) ?? {})}
          />
        </label>
      ))}
    </fieldset>
  )
}
