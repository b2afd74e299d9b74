import { useQuery } from '@tanstack/react-query'
import { type ComponentType, type ReactNode, useContext, useId } from 'react'
import type { ParameterSchema } from '../../../http/routes/editor/blocks.ts'
import { call } from '../../api/call.ts'
import { Check } from '../../parts/check.tsx'
import { Field, Input, Select, type Tied } from '../../parts/field.tsx'
import { Switch } from '../../parts/switch.tsx'
import { textOf } from '../canvas/block-summary.ts'
import type { Params } from '../document/document.ts'
import { choiceLabel, parameterLabel } from '../document/parameter-label.ts'
import { CredentialField } from './choices/credential-field.tsx'
import { WorkflowSelect } from './choices/workflow-select.tsx'
import { CodeField } from './code-field.tsx'
import { FirstLook } from './first-look.ts'
import { FormFieldList } from './form-field-list.tsx'
import { InputFormat } from './input-format.tsx'
import { LargeEditorButton } from './large/large-editor-button.tsx'
import { ListField } from './list-field.tsx'
import { ObjectField } from './object-field.tsx'
import { shownObject } from './object-members.ts'
import { PairTable } from './pair-table.tsx'
import { SchemaField } from './schema-field.tsx'
import { TemplateField } from './template-field.tsx'

export type ParameterProps = {
  name: string
  schema: ParameterSchema
  mode: string
  isRequired: boolean
  value: unknown
  /** All parameters of the block. */
  params: Params
  onChange: (value: unknown) => void
  /** Called when the field loses focus. */
  onDone?: (() => void) | undefined
  error: string | undefined
  /** The problem with a part of the value, such as `0.name`. */
  errorOf: (path: string) => string | undefined
  readOnly: boolean
  /** Renders the tools parameter, which contains forms itself. */
  Tools?: ComponentType<ToolsProps> | undefined
}

export type ToolsProps = Pick<ParameterProps, 'value' | 'onChange' | 'readOnly' | 'errorOf'>

/** One parameter, with the matching control. */
export function ParameterField(props: ParameterProps) {
  const { name, schema, mode, isRequired, value, onChange, error, readOnly } = props
  const label = parameterLabel(name, schema)
  const isFirst = useContext(FirstLook)
  if (schema.type === 'boolean') {
    return <Switch label={label} checked={(value ?? schema.default) === true} onChange={onChange} disabled={readOnly} />
  }
  return (
    <Field
      label={label}
      help={schema.description ? { text: schema.description, isOpen: isFirst } : undefined}
      error={mode === 'json' && isTypingReference(value) ? undefined : error}
      optional={!isRequired && schema.default === undefined && !isStructured(props)}
      aside={<LargeEditorButton {...props} label={label} />}
    >
      {(tied) => controlOf({ ...props, tied, label })}
    </Field>
  )
}

function controlOf(props: ParameterProps & { tied: Tied; label: string }): ReactNode {
  const { name, schema, mode, value, onChange, onDone, readOnly, tied, label, params, errorOf, Tools } = props
  const list = { value, onChange, readOnly }
  const text = { value: textOf(value), onChange, readOnly, tied }
  if (mode === 'tools' && Tools) return <Tools {...list} errorOf={errorOf} />
  if (name === 'responseFormat' || name === 'jsonSchema')
    return <SchemaField {...list} label={label} tied={tied} add="Add field" />
  if (name === 'inputFormat') return <InputFormat {...list} />
  if (isFormFields(props)) return <FormFieldList {...list} />
  if (name === 'workflowId') return <WorkflowSelect {...text} />
  if (name === 'credential') return <CredentialField {...text} />
  if (name === 'model') return <ModelField {...text} provider={params['provider']} />
  if (schema.enum) {
    const options = schema.enum.map((one) => ({ value: one, label: choiceLabel(one, schema) }))
    const chosen = textOf(value ?? schema.default)
    const other = chosen !== '' && !schema.enum.includes(chosen) ? [{ value: chosen, label: chosen }] : []
    const none = chosen === '' ? [{ value: '', label: '' }] : []
    return (
      <Select
        {...tied}
        value={chosen}
        disabled={readOnly}
        options={[...none, ...options, ...other]}
        onChange={(event) => onChange(event.target.value)}
      />
    )
  }
  if (mode === 'code') return <CodeField {...text} language="javascript" label={label} />
  if (name === 'request' && schema.properties) return <RequestFields {...props} properties={schema.properties} />
  const object = shownObject(schema, value)
  if (object) return <ObjectField {...{ label, schema, value: object, params, onChange, errorOf, readOnly, tied }} />
  if (isPairs(schema)) return <PairTable {...list} label={label} />
  if (schema.type === 'array' && schema.items?.enum) return <Choices {...list} schema={schema} label={label} />
  if (schema.type === 'array' && schema.items?.properties) {
    return <ListField {...list} name={name} schema={schema} />
  }
  if (schema.type === 'integer' || schema.type === 'number') {
    return (
      <TemplateField
        {...text}
        placeholder={schema.default === undefined ? '' : textOf(schema.default)}
        onChange={(next) => onChange(numberOf(next))}
      />
    )
  }
  if (shortNames.has(name)) {
    return (
      <TemplateField
        {...text}
        onChange={(next) => onChange(literalOf(next))}
        placeholder={placeholders[name] ?? ''}
        mono
      />
    )
  }
  const isLong = name === 'query' || /prompt$/i.test(name) || (mode === 'template' && longTexts.has(name))
  if (schema.type === 'string' || isLong) {
    return (
      <TemplateField
        {...text}
        onChange={(next) => onChange(next === '' && schema.type !== 'string' ? undefined : next)}
        {...(onDone ? { onDone } : {})}
        placeholder={textOf(schema.default)}
        lines={isLong ? 3 : 1}
        mono={['url', 'baseUrl', 'cron', 'path', 'condition', 'regex', 'query', 'command'].includes(name)}
        preview={name === 'condition' ? 'expression' : 'template'}
      />
    )
  }
  return <CodeField {...list} language="json" label={label} tied={tied} />
}

/** The request of a poll: the parameters of an API block, of which most requests need only the first ones. */
function RequestFields({
  properties,
  value,
  onChange,
  errorOf,
  readOnly,
}: ParameterProps & { properties: Readonly<Record<string, ParameterSchema>> }) {
  const request = (typeof value === 'object' && value !== null ? value : {}) as Params
  const change = (name: string, next: unknown) => {
    const { [name]: _, ...rest } = request
    onChange(next === undefined || next === '' ? rest : { ...rest, [name]: next })
  }
  const fieldsOf = (isMain: boolean) =>
    Object.entries(properties)
      .filter(([name]) => mainRequestFields.has(name) === isMain)
      .map(([name, schema]) => (
        <ParameterField
          key={name}
          {...{ name, schema, readOnly, value: request[name], params: request }}
          mode={name === 'body' ? 'json' : 'template'}
          isRequired={name === 'url'}
          onChange={(next) => change(name, next)}
          error={errorOf(name)}
          errorOf={(path) => errorOf(`${name}.${path}`)}
        />
      ))
  return (
    <div className="flex flex-col gap-4 border-l-2 border-line pl-3">
      {fieldsOf(true)}
      <details className="group">
        <summary className="cursor-default rounded-md py-1 text-xs font-medium text-muted select-none hover:text-text">
          More of the request
        </summary>
        <div className="flex flex-col gap-4 pt-3">{fieldsOf(false)}</div>
      </details>
    </div>
  )
}

const mainRequestFields = new Set(['url', 'method', 'credential', 'params', 'headers'])

/** Parameters of any type that usually hold one reference or number. */
const shortNames = new Set([
  ...['iterations', 'count', 'concurrency', 'forEachItems', 'distribution', 'file', 'history'],
  ...['expect', 'to', 'cc', 'bcc', 'replyTo', 'attachments', 'workflows'],
])

/** Parameters of any type that usually hold a text of several lines. */
const longTexts = new Set(['content', 'input', 'source'])

const placeholders: Readonly<Record<string, string | undefined>> = {
  forEachItems: 'A reference or a JSON list',
  distribution: 'A reference or a JSON list',
  expect: '[404, 409]',
}

/** Whether JSON text has a reference that has no end yet. It is no JSON until then. */
function isTypingReference(value: unknown): boolean {
  return typeof value === 'string' && /<[A-Za-z][\w.$-]*(?:\[[^\]\n]*\])*(?=[\s,}\]"]|$)/.test(value)
}

/** The fields of a form or approval. */
function isFormFields({ name, schema }: Pick<ParameterProps, 'name' | 'schema'>): boolean {
  return name === 'fields' && schema.items?.properties?.['options'] !== undefined
}

function isStructured({ name, schema }: ParameterProps): boolean {
  return name === 'inputFormat' || schema.type === 'array'
}

/** A list of `{ key, value }`: headers, query parameters. */
function isPairs({ items, title }: ParameterSchema): boolean {
  const names = Object.keys(items?.properties ?? {})
  return (names.includes('key') && names.includes('value')) || title === 'Headers'
}

/** Text that is a number or a JSON list becomes a value; anything else stays a template. */
function literalOf(text: string): unknown {
  if (!text.trim().startsWith('[')) return numberOf(text)
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

/** Digits become a number, empty text becomes undefined, and anything else, such as a reference, stays text. */
function numberOf(text: string): unknown {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  return /^-?\d+(\.\d+)?$/.test(trimmed) ? Number(trimmed) : text
}

type ControlProps = { value: string; onChange: (value: unknown) => void; readOnly: boolean; tied: Tied }

function ModelField({ value, provider, onChange, readOnly, tied }: ControlProps & { provider: unknown }) {
  const list = useId()
  const { data } = useQuery({
    queryKey: ['models'],
    queryFn: ({ signal }) => call('GET /api/editor/models', { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const models = data?.data ?? []
  const found = models.find(({ model }) => model === value)
  const fitting = models.filter(
    (model) => provider === 'openai-compatible' || model.provider === null || model.provider === provider,
  )
  return (
    <>
      <Input
        {...tied}
        list={list}
        value={value}
        readOnly={readOnly}
        onChange={(event) => onChange(event.target.value)}
      />
      <datalist id={list}>
        {fitting.map(({ model, price }) => (
          <option key={model} value={model} label={`${price.input} / ${price.output} USD per million tokens`} />
        ))}
      </datalist>
      {found && (
        <div className="text-xs text-muted">
          Per million tokens: input {found.price.input} USD, output {found.price.output} USD
        </div>
      )}
    </>
  )
}

function Choices({
  schema,
  value,
  onChange,
  readOnly,
  label,
}: Pick<ParameterProps, 'schema' | 'value' | 'onChange' | 'readOnly'> & { label: string }) {
  const chosen = new Set(
    Array.isArray(value) ? value.map(String) : Array.isArray(schema.default) ? schema.default.map(String) : [],
  )
  return (
    <fieldset aria-label={label} className="flex flex-wrap gap-x-4 gap-y-1">
      {schema.items?.enum?.map((one) => (
        <Check
          key={one}
          label={choiceLabel(one, schema.items)}
          checked={chosen.has(one)}
          disabled={readOnly}
          onChange={(checked) => {
            const next = new Set(chosen)
            if (checked) next.add(one)
            else next.delete(one)
            onChange(schema.items?.enum?.filter((each) => next.has(each)))
          }}
        />
      ))}
    </fieldset>
  )
}
