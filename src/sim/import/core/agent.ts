import { isObject } from '../../../domain/run/input.ts'
import { asText, type PathStep } from '../../../domain/workflow/reference.ts'
import { textOf } from '../../sim-document.ts'
import type { BlockToMap, MappedBlock } from '../mapping.ts'
import type { SimValues } from '../sim-values.ts'
import { mapTools } from './agent-tools.ts'
import { modelParametersOf } from './models.ts'

export function mapAgent({ block, values }: BlockToMap): MappedBlock {
  const { params, notes } = modelParametersOf(values)
  const kept: Record<string, unknown> = {}
  Object.assign(params, promptsOf(values, kept))
  const memory = values.text('memoryType')
  if (memory !== undefined) {
    kept['memoryType'] = memory
    params['history'] = memory !== 'none'
    if (memory !== 'none') notes.push('The agent remembers the conversation only if a chat trigger starts the run.')
  }
  const format = values.json('responseFormat')
  if (isObject(format) && Object.keys(format).length > 0) {
    const { schema, options } = schemaIn(format)
    params['responseFormat'] = schema
    if (Object.keys(options).length > 0) kept['responseFormatOptions'] = options
  }
  const tools = mapTools(values, block)
  if (tools.tools.length > 0) params['tools'] = tools.tools
  Object.assign(kept, tools.kept)
  const hasFormat = params['responseFormat'] !== undefined
  return {
    type: 'agent',
    params,
    notes: [...notes, ...tools.notes],
    credentials: tools.credentials,
    beside: tools.beside,
    kept,
    output: (path) => agentOutput(path, hasFormat),
  }
}

/** In files, the format is the schema, `{ name, schema }`, or `{ type, json_schema: { name, schema } }`. */
function schemaIn(format: Record<string, unknown>): { schema: Record<string, unknown>; options: object } {
  const { json_schema: wrapped, ...outer } = format
  const { schema, ...options } = isObject(wrapped) ? { ...outer, ...wrapped } : format
  return isObject(schema) ? { schema, options } : { schema: format, options: {} }
}

const outputs = new Set<PathStep | undefined>(['content', 'model', 'tokens', 'toolCalls', 'cost', 'error'])

/** With a response format, the fields of the response are outputs in Sim. Here, they are in `content`. */
function agentOutput(path: readonly PathStep[], hasFormat: boolean): readonly PathStep[] | undefined {
  const [first, second, ...rest] = path
  if (first === 'tokens' && second === 'input') return ['tokens', 'prompt', ...rest]
  if (first === 'tokens' && second === 'output') return ['tokens', 'completion', ...rest]
  if (first === 'toolCalls' && second === 'list') return ['toolCalls', ...rest]
  if (first === 'toolCalls' && second === 'count') return undefined
  if (outputs.has(first)) return path
  return hasFormat ? ['content', ...path] : undefined
}

type Message = { role: string; content: unknown }

const roles: ReadonlyMap<string, string> = new Map([
  ...[['system', 'system'] as const, ['developer', 'system'] as const, ['user', 'user'] as const],
  ...[['assistant', 'assistant'] as const, ['model', 'assistant'] as const],
])

/** A leading system message and the last user message have parameters of their own in our block. */
function promptsOf(values: SimValues, kept: Record<string, unknown>): Record<string, unknown> {
  const system = textual(values, 'systemPrompt')
  const user = textual(values, 'userPrompt')
  const list = values.json('messages')
  const extras: unknown[] = []
  const messages = (Array.isArray(list) ? list : []).filter(isObject).flatMap((message, index): Message[] => {
    const { role, content, ...others } = message
    const ours = roles.get(textOf(role)) ?? 'user'
    if (Object.keys(others).length > 0 || ours !== role) extras.push({ index, ...message })
    return content === undefined || content === null || content === '' ? [] : [{ role: ours, content }]
  })
  if (extras.length > 0) kept['messageDetails'] = extras
  const params: Record<string, unknown> = {}
  if (system !== undefined) params['systemPrompt'] = system
  else if (messages[0]?.role === 'system') params['systemPrompt'] = messages.shift()?.content
  if (user !== undefined) params['userPrompt'] = user
  else if (messages.at(-1)?.role === 'user') params['userPrompt'] = messages.pop()?.content
  if (messages.length > 0) params['messages'] = messages
  return params
}

function textual(values: SimValues, id: string): unknown {
  const value = values.take(id)
  return value === undefined || asText(value).trim() === '' ? undefined : value
}
