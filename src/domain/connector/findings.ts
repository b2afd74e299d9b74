import { isObject } from '../run/input.ts'
import { mayHoldSegments } from '../workflow/reference.ts'
import type { Finding, WorkflowDocument } from '../workflow/workflow.ts'
import { type Connector, operationOf } from './connector.ts'
import { isSet, valueFaults } from './value-faults.ts'

/** A call of an operation in a document. `path`: of its parameters, such as `blocks.a.params`. */
type OperationCall = { blockId: string; path: string; call: Readonly<Record<string, unknown>>; isTool: boolean }

/** The calls of operations in a document: blocks, and tools of agents. Disabled blocks call nothing. */
function operationCallsIn({ blocks }: Pick<WorkflowDocument, 'blocks'>): OperationCall[] {
  return Object.values(blocks).flatMap(({ id, type, params = {}, enabled }): OperationCall[] => {
    if (enabled === false) return []
    const path = `blocks.${id}.params`
    if (type === 'operation') return [{ blockId: id, path, call: params, isTool: false }]
    const { tools } = params
    return (Array.isArray(tools) ? (tools as unknown[]) : []).flatMap((tool, index) =>
      isObject(tool) && tool['type'] === 'operation'
        ? [{ blockId: id, path: `${path}.tools.${index}`, call: tool, isTool: true }]
        : [],
    )
  })
}

/** The findings about operations. `connectors`: those that the document names and that exist, by ID. */
export function operationFindings(
  document: Pick<WorkflowDocument, 'blocks'>,
  connectors: ReadonlyMap<string, Connector>,
): Finding[] {
  return operationCallsIn(document).flatMap((found) => findingsOf(found, document, connectors))
}

function findingsOf(
  { blockId, path, call, isTool }: OperationCall,
  { blocks }: Pick<WorkflowDocument, 'blocks'>,
  connectors: ReadonlyMap<string, Connector>,
): Finding[] {
  const { connector: id, operation: name, params = {} } = call
  const finding = (code: string, part: string, message: string): Finding => {
    const blockName = blocks[blockId]?.name ?? null
    return { level: 'error', code, message, path: `${path}.${part}`, blockId, blockName }
  }
  // An empty one is reported as a missing parameter.
  if (typeof id !== 'string' || typeof name !== 'string' || id === '' || name === '') return []
  const connector = connectors.get(id)
  if (!connector) {
    const message = `There is no connector "${id.slice(0, 100)}" in this workspace. Add it, or choose another one.`
    return [finding('UNKNOWN_CONNECTOR', 'connector', message)]
  }
  const operation = operationOf(connector, name)
  if (!operation) {
    const message = `${connector.name} has no operation "${name.slice(0, 100)}".`
    return [finding('UNKNOWN_OPERATION', 'operation', message)]
  }
  if (!isObject(params)) return []
  const schema = operation.parameters ?? { properties: {} }
  // The model fills in the other parameters of a tool, and constants and defaults need no value.
  const required = (schema.required ?? []).filter((each) => {
    const property = schema.properties[each]
    return !isTool && property?.const === undefined && property?.default === undefined
  })
  const faults = valueFaults({ ...schema, type: 'object', required, additionalProperties: false }, params, isOpen)
  return faults.map((fault) => {
    const [first = ''] = fault.path.split('.')
    const title = schema.properties[first]?.title
    const label = title !== undefined && fault.path === first ? `${title} (${first})` : fault.path
    return finding('INVALID_PARAMETER', `params.${fault.path}`, `${label} ${fault.message}.`)
  })
}

/** A text with references has its value only in a run. */
function isOpen(value: unknown): boolean {
  return typeof value === 'string' && mayHoldSegments(value)
}

/** The IDs of the connectors that a document names. */
export function connectorsIn(document: Pick<WorkflowDocument, 'blocks'>): string[] {
  const ids = operationCallsIn(document).flatMap(({ call: { connector } }) =>
    typeof connector === 'string' && isSet(connector) ? [connector] : [],
  )
  return [...new Set(ids)]
}
