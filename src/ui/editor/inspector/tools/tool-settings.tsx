import type { ParameterSchema } from '../../../../http/routes/editor/blocks.ts'
import type { Params } from '../../document/document.ts'
import { useEditing } from '../../editing.tsx'
import { ParameterForm } from '../parameter-form.tsx'

const names = {
  store: ['prefix', 'scope', 'operations'],
  email: ['credential', 'from', 'recipients'],
  sql: ['credential', 'maxRows'],
} as const

/** The settings of a tool whose form comes from the schema of the agent. */
export function ToolSettings({
  type,
  params,
  onSet,
  readOnly,
  errorOf,
}: {
  type: keyof typeof names
  params: Params
  onSet: (changed: Params) => void
  readOnly: boolean
  errorOf: (path: string) => string | undefined
}) {
  const { types } = useEditing()
  const { tools } = (types.get('agent')?.parameters.properties ?? {}) as Readonly<Record<string, ParameterSchema>>
  const properties = names[type].map((name) => [name, tools?.items?.properties?.[name] ?? {}] as const)
  return (
    <ParameterForm
      schema={{ type: 'object', properties: Object.fromEntries(properties) } as never}
      modes={{}}
      params={params}
      onSet={(name, next) => onSet({ [name]: next === '' ? undefined : next })}
      errorOf={errorOf}
      readOnly={readOnly}
    />
  )
}
