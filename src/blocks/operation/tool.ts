import { type Operation, operationOf, ownParameters, type ValueSchema } from '../../domain/connector/connector.ts'
import { isSet } from '../../domain/connector/value-faults.ts'
import { type BlockContext, BlockError } from '../../engine/block.ts'

/** An operation as the tool of a model. `params`: fixed ones, which the model neither sees nor changes. */
export type OperationTool = {
  type: 'operation'
  connector: string
  operation: string
  credential?: string
  params?: Readonly<Record<string, unknown>>
  name?: string
  description?: string
}

/** The description and the JSON schema of an operation for a model. Throws `BlockError` when there is none. */
export async function describeOperation(
  { connector: id, operation: name, params = {}, description }: OperationTool,
  context: Pick<BlockContext, 'connector'>,
): Promise<{ description: string; parameters: Record<string, unknown> }> {
  const connector = await context.connector(id)
  const operation = operationOf(connector, name)
  if (!operation)
    throw new BlockError('UNKNOWN_OPERATION', `${connector.name} has no operation "${name.slice(0, 100)}".`)
  const said = operation.description ?? operation.label
  return { description: description ?? `${connector.name}: ${said}`, parameters: modelSchema(operation, params) }
}

/** The parameters that are left for the model. */
function modelSchema(operation: Operation, fixed: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const left = ownParameters(operation).filter(([name]) => !isSet(fixed[name]))
  const names = new Set(left.map(([name]) => name))
  return {
    type: 'object',
    properties: Object.fromEntries(left.map(([name, schema]) => [name, plainSchema(schema)])),
    required: (operation.parameters?.required ?? []).filter((name) => names.has(name)),
  }
}

/** Without the keywords that only connectors have. */
function plainSchema(schema: ValueSchema): Record<string, unknown> {
  const { in: _in, encode, join: _join, name: _name, items, properties, additionalProperties, ...rest } = schema
  // The service makes the mail from its parts.
  const type = encode === 'rfc822' ? { type: 'object' } : {}
  return {
    ...rest,
    ...type,
    ...(items ? { items: plainSchema(items) } : {}),
    ...(properties
      ? { properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, plainSchema(each)])) }
      : {}),
    ...(typeof additionalProperties === 'boolean' ? { additionalProperties } : {}),
  }
}
