import type { ParameterSchema } from '../../../http/routes/editor/blocks.ts'
import { Field, Select } from '../../parts/field.tsx'
import { textOf } from '../canvas/block-summary.ts'
import { choiceLabel } from '../document/parameter-label.ts'
import { objectOfType, shownMembers, withMember } from './object-members.ts'
import { TemplateField } from './template-field.tsx'

/** An object with known members, one field each. If it has a `type`, only the members of that type are shown. */
export function ObjectField({
  label,
  schema,
  value,
  onChange,
  errorOf,
  readOnly,
  tied,
}: {
  label: string
  schema: ParameterSchema
  value: Readonly<Record<string, unknown>>
  onChange: (value: unknown) => void
  errorOf: (path: string) => string | undefined
  readOnly: boolean
  /** Ties the type select to the label of the whole field. */
  tied: { id: string }
}) {
  const types = schema.properties?.['type']
  const chosen = textOf(value['type'])
  const isOptional = schema.default === undefined
  const wrong = errorOf('type')
  return (
    <fieldset aria-label={label} className="flex flex-col gap-2">
      {types?.enum && (
        <Select
          {...tied}
          value={chosen}
          disabled={readOnly}
          options={[...(isOptional ? [{ value: '', label: 'None' }] : []), ...optionsOf(types, chosen, isOptional)]}
          onChange={(event) => onChange(objectOfType(schema, value, event.target.value))}
        />
      )}
      {types?.enum && wrong && <p className="text-xs text-error-text">{wrong}</p>}
      {shownMembers(schema, value).map(([name, member]) => (
        <Field key={name} label={member.title ?? name} note={member.description} error={errorOf(name)}>
          {(own) =>
            member.enum ? (
              <Select
                {...own}
                value={textOf(value[name])}
                disabled={readOnly}
                options={optionsOf(member, textOf(value[name]))}
                onChange={(event) => onChange(withMember(value, name, event.target.value))}
              />
            ) : (
              <TemplateField
                value={textOf(value[name])}
                readOnly={readOnly}
                onChange={(text) => onChange(withMember(value, name, text, member))}
                tied={own}
              />
            )
          }
        </Field>
      ))}
    </fieldset>
  )
}

/** Includes the present value even if it is not among the choices. Otherwise the select would show a different one. */
function optionsOf(schema: ParameterSchema, present: string, isListed = false): { value: string; label: string }[] {
  const choices = schema.enum ?? []
  const all = choices.includes(present) || (isListed && present === '') ? choices : [present, ...choices]
  return all.map((one) => ({ value: one, label: one === '' ? 'Select…' : choiceLabel(one, schema) }))
}
