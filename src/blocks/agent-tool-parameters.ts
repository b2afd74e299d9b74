import { type Static, Type as t } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { entryScopes } from '../domain/entry/entry.ts'
import { oneOf } from '../domain/one-of.ts'
import { recordOf } from '../domain/record-of.ts'
import { FormFields } from '../domain/workflow/form.ts'
import { schemaFaults } from '../domain/workflow/json-schema-faults.ts'
import { BlockError, type ParameterFinding } from '../engine/block.ts'
import { checkFields } from './form-fields.ts'
import { storeOperationLabels, storeOperations, storeScopeLabels } from './store/operate.ts'

/**
 * A tool of a model. Tools of some types have a default name; the tools of an MCP server have their own names.
 */
export const Tool = t.Object({
  type: oneOf(['workflow', 'api', 'operation', 'mcp', 'human', 'store', 'email', 'sql'], {
    labels: {
      workflow: 'Workflow',
      api: 'API request',
      operation: 'Operation of a service',
      mcp: 'MCP server',
      human: 'Person',
      store: 'Store',
      email: 'E-mail',
      sql: 'SQL database',
    },
  }),
  name: t.Optional(t.String({ pattern: '^[A-Za-z0-9_-]{1,64}$', expected: '1 to 64 letters, digits, _ and -' })),
  description: t.Optional(t.String()),
  workflowId: t.Optional(t.String({ minLength: 1 })),
  connector: t.Optional(t.String()),
  operation: t.Optional(t.String()),
  credential: t.Optional(t.String()),
  server: t.Optional(t.String()),
  tools: t.Optional(t.Array(t.String({ minLength: 1, maxLength: 200 }), { maxItems: 128 })),
  parameters: t.Optional(recordOf(t.Unknown(), { expected: 'a JSON schema of an object' })),
  params: t.Optional(recordOf(t.Unknown())),
  title: t.Optional(t.String({ maxLength: 200 })),
  fields: t.Optional(FormFields),
  scope: t.Optional(
    oneOf(entryScopes, {
      title: 'Scope',
      description: 'The workflows that share the entries.',
      labels: storeScopeLabels,
      default: 'workflow',
    }),
  ),
  prefix: t.Optional(
    t.String({
      ...{ minLength: 1, maxLength: 256 },
      title: 'Prefix',
      description: 'The model reaches only keys that begin with this text, and does not see it. Empty: all keys.',
    }),
  ),
  operations: t.Optional(
    t.Array(oneOf(storeOperations, { labels: storeOperationLabels }), {
      ...{ minItems: 1, maxItems: storeOperations.length },
      title: 'Operations',
      description: 'The operations that the model may use.',
      default: [...storeOperations],
    }),
  ),
  from: t.Optional(
    t.String({ minLength: 1, title: 'From', description: 'Such as shop@example.com, or Shop <shop@example.com>.' }),
  ),
  recipients: t.Optional(
    t.String({
      ...{ minLength: 1, maxLength: 10_000 },
      title: 'Recipients',
      description: 'The addresses to which the model may send messages, separated by commas. All others are refused.',
    }),
  ),
  maxRows: t.Optional(
    t.Integer({
      ...{ default: 100, minimum: 1, maximum: 1_000 },
      title: 'Most rows',
      description: 'The model does not receive further rows.',
    }),
  ),
})
export type Tool = Static<typeof Tool>

type NamedTool = Partial<Pick<Tool, 'type' | 'name' | 'connector' | 'operation' | 'server'>>

/** The name by which the model calls a tool; for an MCP server, its host. */
export function toolName({ type, name, connector = '', operation = '', server = '' }: NamedTool): string {
  if (type === 'mcp') return URL.parse(server)?.host ?? 'mcp'
  if (type === 'human') return name ?? 'ask_person'
  if (type === 'store') return name ?? 'store'
  if (type === 'email') return name ?? 'send_email'
  if (type === 'sql') return name ?? 'query_database'
  return name ?? `${connector}_${operation}`.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64)
}

export function checkTools(tools: readonly Tool[]): ParameterFinding[] {
  const seen = new Set<string>()
  return tools.flatMap((tool, index) => {
    const isRepeated = tool.type !== 'mcp' && seen.has(toolName(tool))
    seen.add(toolName(tool))
    return checkTool(tool, `tools.${index}`, isRepeated)
  })
}

function checkTool(tool: Tool, path: string, isRepeated: boolean): ParameterFinding[] {
  const { type, workflowId, connector, operation, parameters, params } = tool
  const name = toolName(tool)
  const findings: ParameterFinding[] = []
  const error = (code: string, at: string, message: string) =>
    void findings.push({ level: 'error', code, path: `${path}.${at}`, message })
  switch (type) {
    case 'workflow':
      if (!workflowId) error('MISSING_PARAMETER', 'workflowId', `The tool "${name}" has no workflow. Choose one.`)
      break
    case 'api':
      findings.push(...schemaFindings(`${path}.parameters`, `Arguments of the tool "${name}"`, parameters))
      if (!params) error('MISSING_PARAMETER', 'params', `The tool "${name}" has no request.`)
      break
    case 'operation':
      if (!connector) error('MISSING_PARAMETER', 'connector', 'A tool has no service. Choose one.')
      else if (!operation) error('MISSING_PARAMETER', 'operation', 'A tool has no operation. Choose one.')
      break
    case 'mcp':
      if (!tool.server) error('MISSING_PARAMETER', 'server', 'A tool has no MCP server. Write its address.')
      break
    case 'human':
      findings.push(...checkFields(tool.fields, { path: `${path}.fields` }))
      if (tool.fields?.some((field) => field.type === 'files')) {
        error('INVALID_FIELD', 'fields', `The tool "${name}" cannot ask for files. Ask with an approval block.`)
      }
      break
  }
  for (const setting of needed[type] ?? []) {
    if (tool[setting]) continue
    error('MISSING_PARAMETER', setting, `The tool "${name}" has no ${neededLabels[setting]}. Set "${setting}".`)
  }
  const needsName = type === 'workflow' || type === 'api'
  if (needsName && tool.name === undefined) error('MISSING_PARAMETER', 'name', 'A tool has no name.')
  else if (isRepeated) error('DUPLICATE_ID', 'name', `Two tools have the name "${name}". Rename one.`)
  return findings
}

/** The settings that a tool of a type needs. */
const needed: Readonly<Record<string, readonly ('credential' | 'from' | 'recipients')[]>> = {
  email: ['credential', 'from', 'recipients'],
  sql: ['credential'],
}
const neededLabels = { credential: 'credential', from: 'sender', recipients: 'allowed recipients' }

/** Throws `BlockError` when a reference gave a tool a setting that would allow the model more than its author wrote. */
export function assertFits(tool: NamedTool): void {
  const { type } = tool
  const missing = (needed[type ?? ''] ?? []).find((name) => !(tool as Readonly<Record<string, unknown>>)[name])
  const [fault] = Value.Errors(Tool, tool)
  const setting = missing ?? fault?.path.split('/')[1]
  if (setting === undefined) return
  const message = `The tool "${toolName(tool)}" cannot be used: its setting "${setting}" is not valid. Check its references.`
  throw new BlockError('INVALID_PARAMETER', message)
}

/** The faults of a JSON schema in a parameter. */
export function schemaFindings(path: string, label: string, schema: unknown): ParameterFinding[] {
  return (schema === undefined ? [] : schemaFaults(schema)).map((fault) => {
    const at = fault.path === '' ? path : `${path}.${fault.path}`
    const inner = fault.path === '' ? '' : ` (${fault.path})`
    return { level: 'error', code: 'INVALID_SCHEMA', path: at, message: `${label}${inner}: ${fault.message}` }
  })
}
