import { type Static, Type as t } from '@sinclair/typebox'
import { messageOf } from '../domain/errors.ts'
import { oneOf } from '../domain/one-of.ts'
import { recordOf } from '../domain/record-of.ts'
import { addTokens, type CallCost, noTokens, type Tokens } from '../domain/run/cost.ts'
import type { ChatMessage } from '../domain/run/input.ts'
import type { ModelMessage, ModelResponse } from '../domain/run/model-call.ts'
import { jsonRefusal } from '../domain/text/json.ts'
import { asText } from '../domain/workflow/reference.ts'
import { OnError } from '../domain/workflow/workflow.ts'
import {
  type BlockContext,
  BlockError,
  type BlockErrorData,
  type BlockResult,
  defineBlock,
  type Outputs,
  type ParameterFinding,
  type WorkflowFacts,
} from '../engine/block.ts'
import { checkTools, schemaFindings, Tool, toolName } from './agent-tool-parameters.ts'
import { type AgentTool, AgentTools, type ToolCall, type ToolTurn } from './agent-tools.ts'
import { api } from './api.ts'
import type { McpToolset } from './mcp/agent-tools.ts'
import { checkModelParameters, modelParameters, withoutApiKey } from './model-parameters.ts'
import { addCallCost, askModel } from './model-turn.ts'

const Message = t.Object({
  role: oneOf(['system', 'user', 'assistant'], {
    labels: { system: 'System', user: 'User', assistant: 'Assistant' },
  }),
  content: t.Unknown(),
})

const Parameters = t.Object({
  ...modelParameters,
  systemPrompt: t.Optional(
    t.Unknown({ title: 'System prompt', description: 'The role of the model, and its instructions.' }),
  ),
  messages: t.Optional(
    t.Array(Message, { title: 'Messages', description: 'An earlier conversation. Each message is { role, content }.' }),
  ),
  userPrompt: t.Optional(t.Unknown({ title: 'User prompt' })),
  history: t.Optional(
    t.Boolean({
      default: true,
      title: 'History',
      description: 'Whether to send the earlier messages of the chat. Only with a chat trigger.',
    }),
  ),
  responseFormat: t.Optional(
    recordOf(t.Unknown(), {
      title: 'Response format',
      description: 'A JSON schema. The response of the model is JSON that fits it.',
      expected: 'a JSON schema',
    }),
  ),
  tools: t.Optional(
    t.Array(Tool, {
      maxItems: 100,
      title: 'Tools',
      description:
        'Workflows of this workspace, operations of services, HTTP requests, MCP servers, people, the store, ' +
        'e-mail and SQL databases that the model may use.',
    }),
  ),
  maxSteps: t.Integer({
    default: 10,
    minimum: 1,
    maximum: 1_000,
    title: 'Steps',
    description: 'The most model calls. The block fails if the last one still asks for tools.',
  }),
  onError: { ...OnError, default: 'stop' },
})
type Parameters = Static<typeof Parameters>

/** Calls a language model, which may use tools, and streams its response. */
export const agent = defineBlock({
  type: 'agent',
  label: 'Agent',
  description: 'Calls a language model, which may use tools, and reads its response.',
  kind: 'step',
  parameters: Parameters,
  modes: { responseFormat: 'json', tools: 'tools' },
  toolBlocks: { api },
  outputs: ['content', 'model', 'tokens', 'toolCalls', 'cost', 'error'],
  streams: 'content',
  mayFail: true,
  mayPause: ({ tools }) =>
    Array.isArray(tools) && tools.some((tool: { type?: unknown } | null) => tool?.type === 'human'),
  check,
  showInput(params) {
    const tools = params['tools'] as readonly Tool[] | undefined
    return { ...withoutApiKey(params), ...(tools ? { tools: tools.map(toolName) } : {}) }
  },
  run,
})

async function run(params: Parameters, context: BlockContext): Promise<BlockResult> {
  const work: Work = { toolCalls: [], tokens: noTokens, cost: { input: 0, output: 0, total: 0 } }
  try {
    const response = await converse(params, context, work)
    const content = params.responseFormat
      ? await structuredContent(response, params.responseFormat, context)
      : response.text
    return { outputs: outputsOf(params, work, content, null) }
  } catch (thrown) {
    if (!(thrown instanceof BlockError)) throw thrown
    const error = { code: thrown.code, message: thrown.message, ...attemptsOf(thrown) }
    return { outputs: outputsOf(params, work, null, error), error }
  }
}

function outputsOf({ model }: Parameters, work: Work, content: unknown, error: BlockErrorData | null): Outputs {
  return { content, model, ...work, error }
}

/** A conversation that waits for a person: the tool calls of its last response, and those that have ended. */
type KeptConversation = Pick<ToolTurn, 'step' | 'calls' | 'ended'> & {
  messages: ModelMessage[]
  work: Work
  askedAt: number
}

type Work = { toolCalls: ToolCall[]; tokens: Tokens; cost: CallCost }

/** Calls the model until a response calls no tool. Throws `BlockError`, also after `maxSteps` model calls. */
async function converse(params: Parameters, context: BlockContext, work: Work): Promise<ModelResponse> {
  const tools = await AgentTools.of((params.tools ?? []) as unknown as (AgentTool | McpToolset)[], context)
  let kept = context.kept() as KeptConversation | undefined
  Object.assign(work, kept?.work)
  const messages = kept?.messages ?? openingOf(params, params.history === false ? [] : (context.input.history ?? []))
  const callTools = async (turn: Pick<KeptConversation, 'step' | 'calls' | 'ended'> & { askedAt?: number }) => {
    const { step, calls } = turn
    const keep = (ended: KeptConversation['ended'], askedAt: number) =>
      context.keep({
        ...{ messages: [...messages], work: { ...work, toolCalls: [...work.toolCalls] } },
        ...{ step, calls, ended: [...ended], askedAt },
      } satisfies KeptConversation)
    for (const [at, { call, text, failed }] of (await tools.callAll({ askedAt: undefined, ...turn, keep })).entries()) {
      work.toolCalls.push(call)
      messages.push({ role: 'tool', call: calls[at]!, content: text, failed })
    }
  }
  for (let step = kept?.step ?? 1; step <= params.maxSteps; step += 1) {
    if (kept) {
      await callTools(kept)
      kept = undefined
      continue
    }
    const { responseFormat: responseSchema } = params
    const question = { params, messages: [...messages], tools: tools.descriptions, responseSchema, streams: true }
    const turn = await askModel(question, context)
    work.tokens = addTokens(work.tokens, turn.tokens)
    work.cost = addCallCost(work.cost, turn.cost)
    if (!turn.ok) throw new BlockError(turn.error.code, turn.error.message, turn.error)
    const { response } = turn
    if (response.finish === 'content-filter') {
      const said = response.text === '' ? '' : ` It wrote: ${response.text}`
      throw new BlockError('REFUSED', `The model "${params.model}" refused to respond.${said}`)
    }
    if (response.toolCalls.length === 0) return response
    if (response.text !== '') context.agentEvent({ kind: 'reset' })
    // After the last step, the model would not see the results of its tool calls.
    if (step === params.maxSteps) break
    messages.push({ role: 'assistant', content: response.text, toolCalls: response.toolCalls })
    await callTools({ step, calls: response.toolCalls, ended: [] })
  }
  throw new BlockError(
    'MAX_STEPS_REACHED',
    `The model "${params.model}" still called tools in its last step: Steps is ${params.maxSteps}. ` +
      'Raise Steps, or tell the model in the system prompt when to stop.',
  )
}

function openingOf(
  { systemPrompt, messages = [], userPrompt }: Parameters,
  history: readonly ChatMessage[],
): ModelMessage[] {
  const opening: ModelMessage[] = []
  const add = (role: 'system' | 'user' | 'assistant', content: unknown) => {
    const text = asText(content)
    if (text !== '') opening.push({ role, content: text })
  }
  add('system', systemPrompt)
  for (const { role, content } of history) add(role, content)
  for (const { role, content } of messages) add(role, content)
  add('user', userPrompt)
  if (opening.some(({ role }) => role === 'user')) return opening
  throw new BlockError(
    'INVALID_PARAMETER',
    'There is no text to send to the model: User prompt is empty, and so are all user messages in Messages and in ' +
      'the chat history. Write a User prompt.',
  )
}

/** Parses a response as JSON and checks it against the response format. Throws `BlockError`. */
async function structuredContent(
  { text, finish }: ModelResponse,
  schema: Record<string, unknown>,
  context: BlockContext,
): Promise<unknown> {
  const cut = finish === 'length' ? ' It was cut off at the output limit: raise maxTokens.' : ''
  const invalidOutput = (reason: string) =>
    new BlockError('INVALID_OUTPUT', `The model's response does not match the responseFormat: ${reason}.${cut}`)
  // Models without a JSON mode may wrap JSON in a Markdown code fence.
  const json = /^\s*```(?:json)?\s*\n(.*)\n\s*```\s*$/s.exec(text)?.[1] ?? text
  let value: unknown
  try {
    const refusal = jsonRefusal(json)
    if (refusal !== undefined) throw new Error(refusal)
    value = JSON.parse(json)
  } catch (error) {
    throw invalidOutput(`it is not JSON (${messageOf(error)})`)
  }
  const invalid = await context.models.checkJson(schema, value)
  if (invalid !== undefined) throw invalidOutput(invalid.replace(/\.$/, ''))
  return value
}

function attemptsOf({ cause }: BlockError): { attempts?: unknown } {
  const { attempts } = (cause ?? {}) as { attempts?: unknown }
  return attempts === undefined ? {} : { attempts }
}

function check(
  params: Readonly<Record<string, unknown>>,
  { priceOf }: WorkflowFacts,
  written: Readonly<Record<string, unknown>>,
): ParameterFinding[] {
  return [
    ...checkModelParameters(params, written, priceOf),
    ...schemaFindings('responseFormat', 'Response format', params['responseFormat']),
    ...checkTools((params['tools'] ?? []) as Tool[]),
  ]
}
