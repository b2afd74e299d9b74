import type { ValueSchema } from '../../../../domain/connector/connector.ts'
import { Field, Select } from '../../../parts/field.tsx'
import { textOf } from '../../canvas/block-summary.ts'
import { CodeField } from '../code-field.tsx'
import { TemplateField } from '../template-field.tsx'
import { DynamicChoice } from './dynamic-choice.tsx'

/** The choices of a parameter, which another operation lists. */
export type ChoiceSource = {
  connector: string
  operation: string
  credential: string
  params: Readonly<Record<string, unknown>>
  parameters: ReadonlySet<string>
}

/** The fields of an object that a schema describes. */
export function ValueFields({
  schema,
  value,
  onChange,
  readOnly,
  errorOf,
  choices,
}: {
  schema: ValueSchema
  value: Readonly<Record<string, unknown>>
  onChange: (value: Readonly<Record<string, unknown>>) => void
  readOnly: boolean
  errorOf: (path: string) => string | undefined
  choices?: ChoiceSource
}) {
  const own = Object.entries(schema.properties ?? {}).filter(([, member]) => member.const === undefined)
  return own.map(([name, member]) => (
    <ValueField
      key={name}
      name={name}
      schema={member}
      isRequired={schema.required?.includes(name) === true}
      value={value[name]}
      onChange={(next) => {
        const { [name]: _, ...rest } = value
        onChange(next === undefined || next === '' ? rest : { ...value, [name]: next })
      }}
      readOnly={readOnly}
      errorOf={(path) => errorOf(path === '' ? name : `${name}.${path}`)}
      {...(choices?.parameters.has(name) ? { choices } : {})}
    />
  ))
}

type FieldProps = {
  name: string
  schema: ValueSchema
  isRequired: boolean
  value: unknown
  onChange: (value: unknown) => void
  readOnly: boolean
  errorOf: (path: string) => string | undefined
  choices?: ChoiceSource
}

function ValueField({ name, schema, isRequired, value, onChange, readOnly, errorOf, choices }: FieldProps) {
  const label = schema.title ?? name
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (schema.properties && (value === undefined || isObject)) {
    return (
      <fieldset className="flex flex-col gap-3 rounded-lg border border-line p-3">
        <legend className="px-1 text-xs font-medium">{label}</legend>
        <ValueFields
          schema={schema}
          value={(value ?? {}) as Readonly<Record<string, unknown>>}
          onChange={(next) => onChange(Object.keys(next).length === 0 ? undefined : next)}
          readOnly={readOnly}
          errorOf={errorOf}
        />
      </fieldset>
    )
  }
  const isEmpty = schema.default === undefined
  return (
    <Field label={label} note={schema.description} error={errorOf('')} optional={!isRequired && isEmpty}>
      {(tied) => {
        if (choices) return <DynamicChoice {...{ name, schema, value, onChange, readOnly, tied, choices }} />
        if (schema.enum || schema.type === 'boolean') {
          return <ListedChoice {...{ schema, isRequired, value, onChange, readOnly, tied }} />
        }
        if (schema.type === 'object' || schema.type === 'array' || (isObject && schema.type === undefined)) {
          return <CodeField language="json" {...{ label, value, onChange, readOnly, tied }} />
        }
        return (
          <TemplateField
            value={textOf(value)}
            placeholder={textOf(schema.default)}
            lines={isLongText(name) ? 3 : 1}
            readOnly={readOnly}
            onChange={(text) => onChange(schema.type === 'string' ? text : numberIn(text))}
            tied={tied}
          />
        )
      }}
    </Field>
  )
}

/** A choice from a fixed list. A reference stays, and is shown as it is. */
function ListedChoice({
  schema,
  isRequired,
  value,
  onChange,
  readOnly,
  tied,
}: Pick<FieldProps, 'schema' | 'isRequired' | 'value' | 'onChange' | 'readOnly'> & { tied: { id: string } }) {
  const listed = schema.enum ?? [true, false]
  const options = listed.map((each) => ({ value: textOf(each), label: wordOf(each) }))
  const chosen = textOf(value ?? schema.default)
  const other = chosen === '' || options.some((each) => each.value === chosen) ? [] : [{ value: chosen, label: chosen }]
  const none = chosen === '' || !isRequired ? [{ value: '', label: isRequired ? 'Select…' : 'Not set' }] : []
  return (
    <Select
      {...tied}
      value={chosen}
      disabled={readOnly}
      options={[...none, ...options, ...other]}
      onChange={({ target }) => onChange(listed.find((each) => textOf(each) === target.value))}
    />
  )
}

function wordOf(value: unknown): string {
  if (value === true) return 'Yes'
  return value === false ? 'No' : textOf(value)
}

function isLongText(name: string): boolean {
  return /^(text|body|content|message|description|html|prompt)$/i.test(name)
}

/** Digits become a number; a reference stays text. */
function numberIn(text: string): unknown {
  return /^-?\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : text
}
