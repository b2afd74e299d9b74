import { Type as t } from '@sinclair/typebox'
import { type Operation, operationOf, ownParameters } from '../../../../domain/connector/connector.ts'
import { AppError } from '../../../../domain/errors.ts'
import { blockTypes } from '../../editor/blocks.ts'
import { type BuildingTool, defineTool } from './tool.ts'

const noInput = t.Object({}, { additionalProperties: false })
const shortText = t.String({ minLength: 1, maxLength: 200 })

const listBlocks = defineTool({
  name: 'list_blocks',
  title: 'List block types',
  description:
    'Lists every type of block that a workflow can contain, in one line each. A workflow starts at a trigger block ' +
    '(for example api_trigger). Call describe_block before you use a type.',
  needs: 'write',
  input: noInput,
  run: async () => ({
    blocks: blockTypes().map(({ type, label, kind, description }) => ({ type, label, kind, description })),
  }),
})

const describeBlock = defineTool({
  name: 'describe_block',
  title: 'Describe a block type',
  description:
    'Returns the parameters of a block type as a JSON Schema, its outputs, and the handles by which connections leave ' +
    'it. In parameters, <block name.output> refers to an output of an earlier block, and {{NAME}} to an environment ' +
    'variable.',
  needs: 'write',
  input: t.Object({ type: shortText }, { additionalProperties: false }),
  async run(_context, { type }) {
    const found = blockTypes().find((each) => each.type === type)
    if (!found) {
      const known = blockTypes().map((each) => each.type)
      throw new AppError('NOT_FOUND', `There is no block type "${type}". The types are ${known.join(', ')}.`)
    }
    const { branches, ports, container, mayFail } = found
    const handles = [
      ...(branches ? [`${branches.prefix}<id of an entry of the parameter "${branches.list}">`] : ['source']),
      ...(branches?.otherwise ? [`${branches.prefix}${branches.otherwise}`] : []),
      ...ports,
      ...(mayFail ? ['error'] : []),
    ]
    const inside = container && {
      settings: `The document holds them in "${container.member}", under the ID of the block.`,
      innerBlocks: 'They have the ID of this block as "parentId".',
      schema: container.settings,
    }
    const { starts, streams, givenAtSave, label, description, kind, parameters, modes, outputs } = found
    return {
      ...{ type, label, kind, description, parameters, modes, outputs, sourceHandles: handles, starts, streams },
      ...{ givenAtSave, container: inside },
      reference: outputs[0] === undefined ? null : `<name of the block.${outputs[0]}>`,
    }
  },
})

const listConnectors = defineTool({
  name: 'list_connectors',
  title: 'List connectors',
  description:
    'Lists the services that blocks of the type "operation" can call. describe_operation without "operation" lists ' +
    'the operations of one. For other services, use a block of the type "api".',
  needs: 'write',
  input: t.Object(
    { search: t.Optional(t.String({ maxLength: 200, description: 'A part of the name, the ID or the description.' })) },
    { additionalProperties: false },
  ),
  async run({ services, workspaceId }, { search = '' }) {
    const wanted = search.toLowerCase()
    const listed = await services.connectors.list(workspaceId)
    const connectors = listed.map(({ connector: { id, name, description = null, operations } }) => {
      return { id, name, description, operations: Object.keys(operations).length }
    })
    return {
      connectors: connectors.filter((each) =>
        `${each.id}\n${each.name}\n${each.description}`.toLowerCase().includes(wanted),
      ),
    }
  },
})

const describeOperation = defineTool({
  name: 'describe_operation',
  title: 'Describe an operation of a connector',
  description:
    'Returns the parameters and the result of an operation, the kinds of credentials that fit, and the parameters of ' +
    'the block that calls it. Without "operation", lists the operations of the connector.',
  needs: 'write',
  input: t.Object({ connector: shortText, operation: t.Optional(shortText) }, { additionalProperties: false }),
  async run({ services, workspaceId }, { connector: connectorId, operation: operationId }) {
    const { connector } = await services.connectors.get(workspaceId, connectorId)
    const operations = Object.entries(connector.operations).map(([id, { label, description }]) => {
      return { id, label, description }
    })
    if (operationId === undefined) return { connector: connectorId, operations }
    const operation = operationOf(connector, operationId)
    if (!operation) {
      const known = operations.map(({ id }) => id).join(', ')
      throw new AppError('NOT_FOUND', `${connector.name} has no operation "${operationId}". It has ${known}.`)
    }
    const { label, description, output = null, documentation = null } = operation
    const params = { connector: connectorId, operation: operationId, params: exampleOf(operation) }
    return {
      ...{ connector: connectorId, operation: operationId, label, description, documentation },
      parameters: parametersOf(operation),
      result: output,
      credentials: connector.credentials ?? [],
      block: { type: 'operation', params },
    }
  },
})

function parametersOf(operation: Operation): object {
  const own = ownParameters(operation)
  const required = operation.parameters?.required ?? []
  return {
    type: 'object',
    properties: Object.fromEntries(own),
    required: required.filter((name) => own.some(([each]) => each === name)),
  }
}

const exampleOf = ({ example }: Operation): unknown => example ?? {}

export const catalogTools: readonly BuildingTool[] = [listBlocks, describeBlock, listConnectors, describeOperation]
