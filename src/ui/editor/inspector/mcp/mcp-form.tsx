import { RefreshCw } from 'lucide-react'
import type { ValueSchema } from '../../../../domain/connector/connector.ts'
import { IconButton } from '../../../parts/button.tsx'
import { Field, Select, TextField } from '../../../parts/field.tsx'
import { textOf } from '../../canvas/block-summary.ts'
import type { Params } from '../../document/document.ts'
import { CodeField } from '../code-field.tsx'
import { ValueFields } from '../operation/value-field.tsx'
import { ServerField } from './server-field.tsx'
import { useMcpTools } from './use-mcp-tools.ts'

/** The server, the tool and its arguments. */
export function McpForm({
  params,
  onSet,
  onLeave,
  readOnly,
  errorOf,
}: {
  params: Params
  /** Sets several parameters at once; undefined removes one. */
  onSet: (changed: Params) => void
  /** Called when the focus leaves a field. */
  onLeave: () => void
  readOnly: boolean
  errorOf: (path: string, isWhole?: boolean) => string | undefined
}) {
  const [server, credential, tool] = [params['server'], params['credential'], params['tool']].map(textOf) as [
    string,
    string,
    string,
  ]
  const tools = useMcpTools(server, credential, !readOnly)
  const chosen = tools.data?.find(({ name }) => name === tool)
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only notices that the focus has left a field
    <div className="flex flex-col gap-4" onBlur={onLeave}>
      <ServerField
        {...{ server, credential, readOnly }}
        onSet={(changed) => onSet(changed)}
        errorOf={(path) => errorOf(path, true)}
      />
      {tools.data ? (
        <Field label="Tool" error={errorOf('tool', true)} note={chosen?.description}>
          {(tied) => (
            <span className="flex gap-1.5">
              <span className="min-w-0 flex-1">
                <Select
                  {...tied}
                  value={tool}
                  options={optionsOf(
                    tools.data.map(({ name }) => name),
                    tool,
                  )}
                  onChange={({ target }) => onSet({ tool: target.value, arguments: undefined })}
                />
              </span>
              <IconButton
                label="Load the tools again"
                icon={<RefreshCw size={14} />}
                onClick={() => void tools.refetch()}
              />
            </span>
          )}
        </Field>
      ) : (
        <TextField
          label="Tool"
          error={errorOf('tool', true)}
          note={tools.isFetching ? 'Loading the tools of the server…' : undefined}
          value={tool}
          readOnly={readOnly}
          onChange={(text) => onSet({ tool: text })}
          className="font-mono text-xs"
        />
      )}
      {tools.error && <p className="text-xs break-words text-error-text">{tools.error.message}</p>}
      <Arguments
        schema={chosen?.parameters as ValueSchema | undefined}
        value={params['arguments']}
        onChange={(next) => onSet({ arguments: next })}
        readOnly={readOnly}
        errorOf={(path) => errorOf(path === '' ? 'arguments' : `arguments.${path}`, true)}
      />
    </div>
  )
}

/** A field for each argument that the schema names, or the whole object as JSON. */
function Arguments({
  schema,
  value,
  onChange,
  readOnly,
  errorOf,
}: {
  schema: ValueSchema | undefined
  value: unknown
  onChange: (value: unknown) => void
  readOnly: boolean
  errorOf: (path: string) => string | undefined
}) {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (schema && (value === undefined || isObject)) {
    return (
      <ValueFields
        schema={schema}
        value={(value ?? {}) as Readonly<Record<string, unknown>>}
        onChange={(next) => onChange(Object.keys(next).length === 0 ? undefined : next)}
        readOnly={readOnly}
        errorOf={errorOf}
      />
    )
  }
  return (
    <Field label="Arguments" optional error={errorOf('')} note="An object with the arguments of the tool.">
      {(tied) => <CodeField language="json" label="Arguments" {...{ value, onChange, readOnly, tied }} />}
    </Field>
  )
}

function optionsOf(names: readonly string[], chosen: string) {
  const isKnown = chosen === '' || names.includes(chosen)
  return [
    ...(chosen === '' ? [{ value: '', label: 'Select…' }] : []),
    ...names.map((name) => ({ value: name, label: name })),
    ...(isKnown ? [] : [{ value: chosen, label: `${chosen} (not on the server)` }]),
  ]
}
