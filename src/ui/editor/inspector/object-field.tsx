import type { ParameterSchema } from '../../../http/routes/editor/blocks.ts'
import { Field, Select } from '../../parts/field.tsx'
import { Switch } from '../../parts/switch.tsx'
import { textOf } from '../canvas/block-summary.ts'
import { choiceLabel } from '../document/parameter-label.ts'
import { CodeField } from './code-field.tsx'
import { applies, objectOfType, shownMembers, withMember } from './object-members.ts'
import { TemplateField } from './template-field.tsx'

/** An object with known members, one field each. If it has a `type`, only the members of that type are shown. */
export function ObjectField({
  label,
  schema,
  value,
  params,
  onChange,
  errorOf,
  readOnly,
  tied,
}: {
  label: string
  schema: ParameterSchema
  value: Readonly<Record<string, unknown>>
  /** All parameters of the block. */
  params: Readonly<Record<string, unknown>>
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
  const members = shownMembers(schema, value).filter(
    ([name, member]) => applies(member, params) || errorOf(name) !== undefined,
  )
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
      {members.map(([name, member]) =>
        member.type === 'boolean' && typeof (value[name] ?? false) === 'boolean' ? (
          <Switch
            key={name}
            label={member.title ?? name}
            checked={(value[name] ?? member.default) === true}
            disabled={readOnly}
            onChange={(checked) => onChange({ ...value, [name]: checked })}
          />
        ) : (
          <Field key={name} label={member.title ?? name} note={member.description} error={errorOf(name)}>
            {(own) =>
              member.enum ? (
                <Select
                  {...own}
                  value={textOf(value[name] ?? member.default)}
                  disabled={readOnly}
                  options={optionsOf(member, textOf(value[name] ?? member.default))}
                  onChange={(event) => onChange(withMember(value, name, event.target.value))}
                />
              ) : member.type === 'object' ? (
                <CodeField
                  value={value[name]}
                  language="json"
                  label={member.title ?? name}
                  readOnly={readOnly}
                  onChange={(next) => onChange({ ...value, [name]: next })}
                  tied={own}
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
        ),
      )}
    </fieldset>
  )
}

/** Includes the present value even if it is not among the choices. Otherwise the select would show a different one. */
function optionsOf(schema: ParameterSchema, present: string, isListed = false): { value: string; label: string }[] {
  const choices = schema.enum ?? []
  const all = choices.includes(present) || (isListed && present === '') ? choices : [present, ...choices]
  return all.map((one) => ({ value: one, label: one === '' ? 'Select…' : choiceLabel(one, schema) }))
}
