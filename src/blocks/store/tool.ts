import { type EntryScopeName, entryBounds } from '../../domain/entry/entry.ts'
import type { ModelTool } from '../../domain/run/model-call.ts'
import { type BlockContext, BlockError } from '../../engine/block.ts'
import { toolName } from '../agent-tool-parameters.ts'
import { operate, type StoreCall, type StoreOperation, storeOperations } from './operate.ts'

/**
 * The store as the tool of a model. The author sets the scope. The model sees keys without the `prefix`, and reaches
 * only those that have it.
 */
export type StoreTool = {
  type: 'store'
  name?: string
  description?: string
  scope?: EntryScopeName
  prefix?: string
  operations?: readonly StoreOperation[]
}

/** Arguments of the model that fit the schema of `describeStore`. */
type StoreArguments = Omit<StoreCall, 'scope' | 'timeoutMs'>

export function describeStore(tool: StoreTool): ModelTool {
  const { description = 'Keeps values by key: they stay when this conversation has ended.' } = tool
  return { name: toolName(tool), description, parameters: parametersOf(tool) }
}

/** Carries out an operation. The model receives the result. Throws `BlockError`. */
export async function callStore(
  tool: StoreTool,
  args: Record<string, unknown>,
  context: BlockContext,
): Promise<Record<string, unknown>> {
  const invalid = await context.models.checkJson(parametersOf(tool), args)
  if (invalid) throw new BlockError('INVALID_ARGUMENTS', `The arguments do not fit the tool: ${invalid}`)
  const { scope = 'workflow', prefix: own = '' } = tool
  const { key, prefix = '', after, ...rest } = args as StoreArguments
  const call: StoreCall = { ...rest, scope, timeoutMs, prefix: own + prefix }
  // Otherwise, an empty key would become the prefix.
  if (key !== undefined && key !== '') call.key = own + key
  if (after !== undefined) call.after = own + after
  const { value, found, changed, items } = await operate(call, context)
  if (call.operation === 'get') return { value, found }
  if (call.operation !== 'list') return { value, found, changed }
  return { items: (items as { key: string }[]).map((item) => ({ ...item, key: item.key.slice(own.length) })) }
}

const timeoutMs = 10_000

function parametersOf({ operations = storeOperations }: StoreTool): Record<string, unknown> {
  const allowed = new Set<StoreOperation>(operations)
  const properties = Object.entries(argumentsOf).filter(([, { of }]) => of.some((operation) => allowed.has(operation)))
  return {
    type: 'object',
    properties: {
      operation: { type: 'string', enum: [...allowed], description: 'What to do.' },
      ...Object.fromEntries(properties.map(([name, { schema }]) => [name, schema])),
    },
    required: ['operation'],
    additionalProperties: false,
  }
}

type Argument = { of: readonly StoreOperation[]; schema: Record<string, unknown> }

const argumentsOf: Record<Exclude<keyof StoreArguments, 'operation'>, Argument> = {
  key: {
    of: storeOperations.filter((operation) => operation !== 'list'),
    schema: { type: 'string', description: 'Names the entry. Needed for everything but list.' },
  },
  value: {
    of: ['set', 'compare_and_set', 'add_if_absent'],
    schema: { description: 'Any JSON value, for set, compare_and_set and add_if_absent.' },
  },
  expected: {
    of: ['compare_and_set'],
    schema: { description: 'compare_and_set changes the entry only if it has this value; null: only if it is new.' },
  },
  by: { of: ['increment'], schema: { type: 'number', description: 'Added to the number of the entry; 1 if absent.' } },
  ttlMs: {
    of: ['set', 'increment', 'compare_and_set', 'add_if_absent'],
    schema: {
      ...{ type: 'integer', minimum: 1, maximum: entryBounds.ttlMsMax },
      description: 'Milliseconds until the entry expires. Without it, the entry stays.',
    },
  },
  prefix: { of: ['list'], schema: { type: 'string', description: 'Lists only keys that begin with this text.' } },
  after: { of: ['list'], schema: { type: 'string', description: 'Lists the keys after this one.' } },
  limit: {
    of: ['list'],
    schema: {
      type: 'integer',
      minimum: 1,
      maximum: entryBounds.listMax,
      description: 'Entries of a list; 100 if absent.',
    },
  },
}
