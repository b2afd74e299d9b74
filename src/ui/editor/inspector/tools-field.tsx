import { Archive, Database, Globe, Mail, Plug, UserRound, Workflow, Wrench } from 'lucide-react'
import { useMemo } from 'react'
import { Field, SelectField, TextField } from '../../parts/field.tsx'
import { MultiPick } from '../../parts/multi-pick.tsx'
import { textOf } from '../canvas/block-summary.ts'
import type { Params } from '../document/document.ts'
import { useEditing } from '../editing.tsx'
import { WorkflowSelect } from './choices/workflow-select.tsx'
import { ServerField } from './mcp/server-field.tsx'
import { useMcpTools } from './mcp/use-mcp-tools.ts'
import { OperationForm } from './operation/operation-form.tsx'
import type { ToolsProps } from './parameter-field.tsx'
import { ParameterForm } from './parameter-form.tsx'
import { type Change, freeName, Rows } from './rows.tsx'
import { SchemaField } from './schema-field.tsx'
import { TemplateField } from './template-field.tsx'
import { ToolSettings } from './tools/tool-settings.tsx'
import { Suggestions, useSuggestions } from './use-suggestions.ts'

type Tool = {
  type: 'workflow' | 'api' | 'operation' | 'mcp' | 'human' | 'store' | 'email' | 'sql'
  name?: string
  description?: string
  workflowId?: string
  connector?: string
  operation?: string
  credential?: string
  server?: string
  tools?: readonly string[]
  parameters?: unknown
  params?: Params
  title?: string
  fields?: unknown
  scope?: unknown
  prefix?: unknown
  operations?: unknown
  from?: unknown
  recipients?: unknown
  maxRows?: unknown
}

const labels = {
  workflow: 'Workflow',
  operation: 'Operation',
  api: 'API request',
  mcp: 'MCP server',
  human: 'Person',
  store: 'Store',
  email: 'E-mail',
  sql: 'SQL database',
}
const icons = {
  workflow: <Workflow size={13} />,
  operation: <Plug size={13} />,
  api: <Globe size={13} />,
  mcp: <Wrench size={13} />,
  human: <UserRound size={13} />,
  store: <Archive size={13} />,
  email: <Mail size={13} />,
  sql: <Database size={13} />,
}

/**
 * The tools of a model: workflows, operations of services, API requests whose parameters may contain `<args.name>`, and
 * people.
 */
export function ToolsField({ value, onChange, readOnly, errorOf }: ToolsProps) {
  const tools = (Array.isArray(value) ? value : []) as Tool[]
  return (
    <Rows
      label="Tools"
      items={tools}
      onChange={(next) => onChange(next.length === 0 ? undefined : next)}
      readOnly={readOnly}
      fresh={(): Tool => ({ type: 'workflow', name: freeName('tool_', tools, ({ name }) => name ?? '') })}
      add="Add tool"
      remove="Remove tool"
    >
      {(tool, at, change) => (
        <ToolForm
          tool={tool}
          number={at + 1}
          change={change}
          readOnly={readOnly}
          errorOf={(path) => errorOf(`${at}.${path}`)}
        />
      )}
    </Rows>
  )
}

type ToolProps = {
  tool: Tool
  number: number
  change: (part: Change<Tool>) => void
  readOnly: boolean
  errorOf: (path: string) => string | undefined
}

function ToolForm({ tool, number, change, readOnly, errorOf }: ToolProps) {
  return (
    <div className="flex flex-col gap-3">
      {readOnly ? (
        <p className="flex items-center gap-1.5 text-xs text-muted">
          {icons[tool.type]}
          {labels[tool.type]}
        </p>
      ) : (
        <SelectField
          label={`Type of tool ${number}`}
          value={tool.type}
          onChange={(type) => change({ type })}
          options={Object.entries(labels).map(([value, label]) => ({ value: value as Tool['type'], label }))}
        />
      )}
      {tool.type !== 'mcp' && <NameOf tool={tool} change={change} readOnly={readOnly} errorOf={errorOf} />}
      {tool.type === 'workflow' ? (
        <Field
          label="Workflow"
          error={errorOf('workflowId')}
          note="Its live version runs. The model fills in its input."
        >
          {(tied) => (
            <WorkflowSelect
              value={textOf(tool.workflowId)}
              onChange={(id) => change({ workflowId: id === '' ? undefined : id })}
              readOnly={readOnly}
              tied={tied}
            />
          )}
        </Field>
      ) : tool.type === 'operation' ? (
        <>
          <OperationForm
            params={tool as Params}
            onSet={(changed) => change(changed as Change<Tool>)}
            readOnly={readOnly}
            errorOf={errorOf}
          />
          <p className="text-xs text-muted">The model fills in the parameters that you leave empty.</p>
        </>
      ) : tool.type === 'mcp' ? (
        <ServerOf tool={tool} change={change} readOnly={readOnly} errorOf={errorOf} />
      ) : tool.type === 'human' ? (
        <QuestionOf tool={tool} number={number} change={change} readOnly={readOnly} errorOf={errorOf} />
      ) : tool.type === 'store' || tool.type === 'email' || tool.type === 'sql' ? (
        <ToolSettings
          type={tool.type}
          params={tool as Params}
          onSet={(changed) => change(changed as Change<Tool>)}
          readOnly={readOnly}
          errorOf={errorOf}
        />
      ) : (
        <RequestOf tool={tool} number={number} change={change} readOnly={readOnly} errorOf={errorOf} />
      )}
    </div>
  )
}

/** The name and the description of a tool, for the model. */
function NameOf({ tool, change, readOnly, errorOf }: Omit<ToolProps, 'number'>) {
  return (
    <>
      <TextField
        label="Name"
        error={errorOf('name')}
        note="The name that the model uses: letters, digits, _ and -."
        maxLength={64}
        value={tool.name ?? ''}
        readOnly={readOnly}
        onChange={(text) => change({ name: text === '' ? undefined : text.replaceAll(' ', '_') })}
        className="font-mono text-xs"
      />
      <Field label="Description" optional error={errorOf('description')}>
        {(tied) => (
          <TemplateField
            value={textOf(tool.description)}
            placeholder="What it does and when to use it"
            lines={2}
            readOnly={readOnly}
            onChange={(text) => change({ description: text === '' ? undefined : text })}
            tied={tied}
          />
        )}
      </Field>
    </>
  )
}

/** The server, and which of its tools the model gets. */
function ServerOf({ tool, change, readOnly, errorOf }: Omit<ToolProps, 'number'>) {
  const [server, credential] = [textOf(tool.server), textOf(tool.credential)]
  const { data, error, isFetching } = useMcpTools(server, credential, !readOnly)
  const chosen = tool.tools ?? []
  const names = [...new Set([...(data ?? []).map(({ name }) => name), ...chosen])]
  return (
    <>
      <ServerField
        {...{ server, credential, readOnly, errorOf }}
        onSet={(changed) => change(changed as Change<Tool>)}
      />
      {readOnly ? (
        <p className="text-xs text-muted">{chosen.length === 0 ? 'All tools of the server' : chosen.join(', ')}</p>
      ) : (
        names.length > 0 && (
          <MultiPick
            label="All tools of the server"
            choices={names.map((name) => ({ value: name, label: name }))}
            chosen={chosen}
            onChange={(next) => change({ tools: next.length === 0 ? undefined : next })}
          />
        )
      )}
      {isFetching && <p className="text-xs text-muted">Loading the tools of the server…</p>}
      {error && <p className="text-xs break-words text-error-text">{error.message}</p>}
    </>
  )
}

/** The title and the fields that the asked person sees. The form comes from the schema of an approval. */
function QuestionOf({ tool, change, readOnly, errorOf }: ToolProps) {
  const { types } = useEditing()
  const approval = types.get('approval')?.parameters as { properties?: Record<string, object> } | undefined
  const { title, fields } = approval?.properties ?? {}
  if (!title || !fields) return null
  return (
    <>
      <ParameterForm
        schema={{ type: 'object', properties: { title, fields } } as never}
        modes={{}}
        params={{ title: tool.title, fields: tool.fields }}
        onSet={(name, next) => change({ [name]: next })}
        errorOf={errorOf}
        readOnly={readOnly}
      />
      <p className="text-xs text-muted">The run pauses until a member of the workspace answers.</p>
    </>
  )
}

/** The arguments that the model fills in, and the request that uses them. */
function RequestOf({ tool, change, readOnly, errorOf }: ToolProps) {
  const { types } = useEditing()
  const outer = useSuggestions()
  const type = types.get('api')
  const { parameters, params = {} } = tool
  const suggestions = useMemo(() => [...argumentsOf(parameters), ...outer], [parameters, outer])
  if (!type) return null
  return (
    <>
      <Field
        label="Arguments"
        error={errorOf('parameters')}
        note={
          <>
            Values the model fills in. The request reads them as <code>{'<args.name>'}</code>.
          </>
        }
      >
        {(tied) => (
          <SchemaField
            label="Arguments"
            add="Add argument"
            value={parameters}
            onChange={(next) => change({ parameters: next })}
            readOnly={readOnly}
            tied={tied}
          />
        )}
      </Field>
      <Suggestions value={suggestions}>
        <ParameterForm
          schema={type.parameters}
          modes={type.modes as Record<string, string>}
          params={params}
          onSet={(name, next) => {
            const kept = Object.entries({ ...params, [name]: next }).filter(([, each]) => each !== undefined)
            change({ params: Object.fromEntries(kept) })
          }}
          errorOf={(path) => errorOf(`params.${path}`)}
          readOnly={readOnly}
        />
        {!tool.params && errorOf('params') && <p className="text-xs text-error-text">{errorOf('params')}</p>}
      </Suggestions>
    </>
  )
}

function argumentsOf(parameters: unknown) {
  const properties = (parameters as { properties?: unknown } | undefined)?.properties
  const names = typeof properties === 'object' && properties !== null ? Object.keys(properties) : []
  return names.map((name) => ({ text: `<args.${name}>`, from: 'Argument' }))
}
