import { messageOf } from '../domain/errors.ts'
import { isObject } from '../domain/run/input.ts'
import type { ModelTool, ModelToolCall } from '../domain/run/model-call.ts'
import { jsonRefusal } from '../domain/text/json.ts'
import { asText } from '../domain/workflow/reference.ts'
import type { FieldType, InputField } from '../domain/workflow/workflow.ts'
import { type BlockContext, BlockError, type FillTool, type PartContext } from '../engine/block.ts'
import { assertFits, toolName } from './agent-tool-parameters.ts'
import { api } from './api.ts'
import { callEmail, describeEmail, type EmailTool } from './email/tool.ts'
import { callMcpTool, type McpAgentTool, type McpToolset, toolsOf } from './mcp/agent-tools.ts'
import { describeOperation, type OperationTool } from './operation/tool.ts'
import { callOperation } from './operation.ts'
import { askPerson, describePerson, type PersonTool, questionOf } from './person-tool.ts'
import { callSql, describeSql, type SqlTool } from './sql/tool.ts'
import { callStore, describeStore, type StoreTool } from './store/tool.ts'

/** A tool as the block receives it: with references filled in, except for the arguments of an API tool. */
export type AgentTool =
  | { type: 'workflow'; workflowId: string; name: string; description?: string }
  | { type: 'api'; name: string; description?: string; parameters?: Record<string, unknown>; fill: FillTool }
  | OperationTool
  | PersonTool
  | StoreTool
  | EmailTool
  | SqlTool

type ReadyTool = AgentTool | McpAgentTool

/** One call in the block's output `toolCalls`. */
export type ToolCall = { id: string; name: string; arguments: unknown; result: unknown; durationMs: number }

/** `text`: the message to the model. */
export type ToolOutcome = { call: ToolCall; text: string; failed: boolean }

/**
 * The tool calls of one response of the model. `ended`: the outcomes before a pause. `askedAt`: when the first person
 * without an outcome was asked. `keep`: called before a person is asked.
 */
export type ToolTurn = {
  step: number
  calls: readonly ModelToolCall[]
  ended: readonly (ToolOutcome | null)[]
  askedAt: number | undefined
  keep(outcomes: readonly (ToolOutcome | null)[], askedAt: number): Promise<void>
}

type DescribedTool = { tool: ReadyTool; description: ModelTool }

/** The tools of one block, ready to be called. */
export class AgentTools {
  /** The descriptions for the model. */
  readonly descriptions: readonly ModelTool[]
  readonly #tools: ReadonlyMap<string, ReadyTool>
  readonly #context: BlockContext

  private constructor(tools: readonly DescribedTool[], context: BlockContext) {
    this.#tools = new Map(tools.map(({ description, tool }) => [description.name, tool]))
    this.descriptions = tools.map(({ description }) => description)
    this.#context = context
  }

  /** Throws `BlockError` when a workflow cannot be called, or an MCP server cannot be reached. */
  static async of(tools: readonly (AgentTool | McpToolset)[], context: BlockContext): Promise<AgentTools> {
    const own = tools.filter((tool) => tool.type !== 'mcp')
    const described = await Promise.all(
      own.map(async (tool) => ({ tool, description: await descriptionOf(tool, context) })),
    )
    const taken = new Set(described.map(({ description }) => description.name))
    const ready: DescribedTool[] = described
    // One server after the other, so that the names of their tools do not depend on who responds first.
    for (const set of tools) {
      if (set.type !== 'mcp') continue
      const found = await toolsOf(set, taken, context)
      ready.push(...found.map((tool) => ({ tool, description: tool.description })))
    }
    return new AgentTools(ready, context)
  }

  /**
   * Calls the tools of one response, and asks people one after the other when all other tools have ended. The model
   * receives errors as results, so this throws only when the run cannot pause.
   */
  async callAll(turn: ToolTurn): Promise<ToolOutcome[]> {
    const { calls, ended, askedAt, keep } = turn
    const questions = calls.map(({ name, arguments: text }) => this.#questionOf(name, text))
    const outcomes = await Promise.all(
      calls.map(
        (call, at) => ended[at] ?? (questions[at] === undefined ? this.#call(call, `${turn.step}.${at}`) : null),
      ),
    )
    let since = askedAt
    for (const [at, call] of calls.entries()) {
      if (outcomes[at]) continue
      if (since === undefined) {
        since = this.#context.clock.now()
        await keep(outcomes, since)
      }
      outcomes[at] = await this.#ask(call, questions[at] ?? '', { within: `${turn.step}.${at}`, since })
      since = undefined
    }
    return outcomes.filter((outcome) => outcome !== null)
  }

  /** The question of a call for a person; undefined for any other call, and for one that cannot be asked. */
  #questionOf(name: string, text: string): string | undefined {
    if (this.#tools.get(name)?.type !== 'human') return undefined
    const reading = readArguments(text)
    return reading.ok ? questionOf(reading.args) : undefined
  }

  async #ask(call: ModelToolCall, question: string, { within, since }: { within: string; since: number }) {
    const { clock } = this.#context
    const tool = this.#tools.get(call.name) as PersonTool
    const part = this.#context.part(call.name, 'tool', within)
    this.#tell(call, 'start')
    const result = await askPerson({ tool, question, within }, this.#context)
    const args = { message: question }
    part.end({ input: args, output: result })
    this.#tell(call, 'success')
    const ended = { id: call.id, name: call.name, arguments: args, result, durationMs: clock.now() - since }
    return { call: ended, text: asText(result), failed: false }
  }

  /** `within`: the place of the call in the conversation, which stays the same when the block runs again. */
  async #call(toolCall: ModelToolCall, within: string): Promise<ToolOutcome> {
    const { clock } = this.#context
    const part = this.#context.part(toolCall.name, 'tool', within)
    const startedAt = clock.monotonic()
    this.#tell(toolCall, 'start')
    const reading = readArguments(toolCall.arguments)
    const args = reading.ok ? reading.args : toolCall.arguments
    let result: unknown = null
    let error: { code: string; message: string } | undefined
    try {
      if (!reading.ok) throw new BlockError('INVALID_ARGUMENTS', reading.message)
      result = await this.#run(toolCall.name, reading.args, part)
    } catch (thrown) {
      error = { code: thrown instanceof BlockError ? thrown.code : 'BLOCK_FAILED', message: messageOf(thrown) }
      result = { error }
    }
    const durationMs = Math.round((clock.monotonic() - startedAt) * 1000) / 1000
    part.end({ input: args, output: result, ...(error ? { error, status: 'error' } : {}) })
    this.#tell(toolCall, error ? 'error' : 'success')
    const call = { id: toolCall.id, name: toolCall.name, arguments: args, result, durationMs }
    return error
      ? { call, text: `Error: ${error.message}`, failed: true }
      : { call, text: asText(result), failed: false }
  }

  #tell({ id, name }: ModelToolCall, state: 'start' | 'success' | 'error'): void {
    if (state === 'start') this.#context.agentEvent({ kind: 'tool-start', id, name })
    else this.#context.agentEvent({ kind: 'tool-end', id, name, status: state })
  }

  async #run(name: string, args: Record<string, unknown>, part: PartContext): Promise<unknown> {
    const tool = this.#tools.get(name)
    if (!tool)
      throw new BlockError(
        'UNKNOWN_TOOL',
        `There is no tool "${name}". The tools are: ${[...this.#tools.keys()].join(', ')}.`,
      )
    if (tool.type === 'human') throw new BlockError('INVALID_ARGUMENTS', 'The argument "message" must be a text.')
    if (tool.type === 'workflow') {
      const { output, error } = await part.runWorkflow(tool.workflowId, args)
      if (error) throw new BlockError(error.code, error.message)
      return output
    }
    if (tool.type === 'store') return await callStore(tool, args, part)
    if (tool.type === 'email') return await callEmail(tool, args, part)
    if (tool.type === 'sql') return await callSql(tool, args, part)
    if (tool.type === 'mcp-tool') return await callMcpTool(tool, args, part)
    const { outputs, error } =
      tool.type === 'operation'
        ? await callOperation({ ...tool, params: { ...args, ...tool.params } }, part)
        : await this.#request(tool, args, part)
    if (!error) return outputs['data']
    const body = outputs['data'] === null ? '' : ` The response was: ${asText(outputs['data']).slice(0, bodyCharsMax)}`
    throw new BlockError(error.code, error.message + body)
  }

  async #request(tool: Extract<AgentTool, { type: 'api' }>, args: Record<string, unknown>, part: PartContext) {
    const invalid = tool.parameters && (await part.models.checkJson(tool.parameters, args))
    if (invalid) throw new BlockError('INVALID_ARGUMENTS', `The arguments do not fit the tool: ${invalid}`)
    return await api.run(tool.fill(args), part)
  }
}

/** Characters of a failed response's body that the model receives. */
const bodyCharsMax = 2_000

type Arguments = { ok: true; args: Record<string, unknown> } | { ok: false; message: string }

function readArguments(text: string): Arguments {
  const refusal = jsonRefusal(text)
  if (refusal !== undefined) return { ok: false, message: `The arguments cannot be used: ${refusal}.` }
  try {
    const args: unknown = text.trim() === '' ? {} : JSON.parse(text)
    return isObject(args) ? { ok: true, args } : { ok: false, message: 'The arguments must be a JSON object.' }
  } catch (error) {
    return { ok: false, message: `The arguments are not JSON: ${messageOf(error)}` }
  }
}

async function descriptionOf(tool: AgentTool, context: BlockContext): Promise<ModelTool> {
  if (tool.type === 'operation') return { name: toolName(tool), ...(await describeOperation(tool, context)) }
  if (tool.type === 'human') return describePerson(tool)
  if (tool.type === 'store' || tool.type === 'email' || tool.type === 'sql') {
    assertFits(tool)
    if (tool.type === 'store') return describeStore(tool)
    return tool.type === 'email' ? describeEmail(tool) : describeSql(tool)
  }
  const { name, description = '' } = tool
  if (tool.type === 'api') {
    return { name, description, parameters: tool.parameters ?? { type: 'object', properties: {} } }
  }
  const described = await context.describeWorkflow(tool.workflowId)
  if (!described.ok)
    throw new BlockError(described.error.code, `The tool "${name}" cannot be called: ${described.error.message}`)
  return { name, description, parameters: schemaOf(described.format) }
}

const jsonTypes: Record<FieldType, string> = {
  string: 'string',
  number: 'number',
  boolean: 'boolean',
  object: 'object',
  array: 'array',
  files: 'array',
}

/** A trigger's input format as the schema of a tool's parameters. */
function schemaOf(format: readonly InputField[]): Record<string, unknown> {
  const properties = format.map(({ name, type, description }) => {
    const items = jsonTypes[type] === 'array' ? { items: {} } : {}
    return [name, { type: jsonTypes[type], ...items, ...(description ? { description } : {}) }] as const
  })
  const required = format.filter((field) => field.required).map(({ name }) => name)
  return { type: 'object', properties: Object.fromEntries(properties), required }
}
