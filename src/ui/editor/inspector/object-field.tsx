import type { ParameterSchema } from '../../../http/routes/editor/blocks.ts'
import { Field, Select } from '../../parts/field.tsx'
import { textOf } from '../block-summary.ts'
import { objectOfType, shownMembers, withMember } from './object-members.ts'
import { TemplateField } from './template-field.tsx'

/** An object with known members, a field each; one with a `type` shows those that mean something beside it. */
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
  /** Ties the choice of a type to the label of the whole. */
  tied: { id: string }
}) {
  const types = schema.properties?.['type']?.enum
  const chosen = textOf(value['type'])
  const wrong = errorOf('type')
  return (
    <fieldset aria-label={label} className="flex flex-col gap-2">
      {types && (
        <Select
          {...tied}
          value={chosen}
          disabled={readOnly}
          options={optionsOf(types, chosen)}
          onChange={(event) => onChange(objectOfType(schema, value, event.target.value))}
        />
      )}
      {types && wrong && <p className="text-xs text-error-text">{wrong}</p>}
      {shownMembers(schema, value).map(([name, member]) => (
        <Field key={name} label={member.title ?? name} note={member.description} error={errorOf(name)}>
          {(own) =>
            member.enum ? (
              <Select
                {...own}
                value={textOf(value[name])}
                disabled={readOnly}
                options={optionsOf(member.enum, textOf(value[name]))}
                onChange={(event) => onChange(withMember(value, name, event.target.value))}
              />
            ) : (
              <TemplateField
                value={textOf(value[name])}
                readOnly={readOnly}
                onChange={(text) => onChange(withMember(value, name, text))}
                tied={own}
              />
            )
          }
        </Field>
      ))}
    </fieldset>
  )
}

/** What is there stands first when it is none of the choices: a select would show another one in its place. */
function optionsOf(choices: readonly string[], present: string): { value: string; label: string }[] {
  const all = choices.includes(present) ? choices : [present, ...choices]
  return all.map((one) => ({ value: one, label: one === '' ? 'Select…' : (words[one] ?? one) }))
}

/** Choices whose name in the document is no word for people. */
const words: Readonly<Record<string, string>> = {
  none: 'None: anyone who knows the URL',
  bearer: 'Bearer token',
  header: 'Header',
  signature: 'Signature',
  github: 'GitHub',
  stripe: 'Stripe',
  slack: 'Slack',
  standard: 'Standard Webhooks',
}
