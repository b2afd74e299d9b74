import type { ErrorDetail } from '../errors.ts'
import { findValidationErrors } from '../workflow/shape.ts'
import { connectorBounds, operationId } from './bounds.ts'
import type { Connector } from './connector.ts'
import { ConnectorShape } from './connector-shape.ts'
import { operationFaults } from './validate-operation.ts'

/** More faults than this do not help the reader. */
const faultsMax = 100

/** Everything that is wrong with a connector, for people; `path` as in `operations.list.path`. */
export function connectorFaults(document: unknown): ErrorDetail[] {
  const size = Buffer.byteLength(JSON.stringify(document) ?? '')
  if (size > connectorBounds.bytesMax) {
    return [{ path: '', message: `The connector has ${size} bytes of JSON; at most ${connectorBounds.bytesMax} fit.` }]
  }
  const shape = findValidationErrors(ConnectorShape, document)
  if (shape.length > 0) return shape.slice(0, faultsMax)
  const connector = document as Connector
  return [...ownFaults(connector), ...allOperationFaults(connector)].slice(0, faultsMax)
}

function ownFaults({ baseUrl, documentation, operations }: Connector): ErrorDetail[] {
  const faults: ErrorDetail[] = []
  // Fields of a credential stand for parts of the address, or for all of it.
  const example = baseUrl.replace(/^\{\w+\}/, 'https://example.com').replaceAll(/\{\w+\}/g, 'x')
  const url = URL.parse(example)
  if (!url || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '' || url.username !== '') {
    const message = 'baseUrl must be an http or https URL without a query. {name} stands for a field of the credential.'
    faults.push({ path: 'baseUrl', message })
  }
  if (documentation !== undefined && !/^https?:\/\//.test(documentation)) {
    faults.push({ path: 'documentation', message: 'documentation must be an http or https URL.' })
  }
  const count = Object.keys(operations).length
  if (count === 0) faults.push({ path: 'operations', message: 'A connector needs at least one operation.' })
  if (count > connectorBounds.operationsMax) {
    const message = `A connector has at most ${connectorBounds.operationsMax} operations, not ${count}.`
    faults.push({ path: 'operations', message })
  }
  return faults
}

function allOperationFaults(connector: Connector): ErrorDetail[] {
  const faults: ErrorDetail[] = []
  for (const [id, operation] of Object.entries(connector.operations).slice(0, connectorBounds.operationsMax)) {
    const at = `operations.${id.slice(0, 100)}`
    if (!operationId.test(id)) {
      faults.push({ path: at, message: 'The id of an operation has 1 to 100 letters, digits, _, - and dots.' })
    }
    faults.push(
      ...operationFaults(operation, connector).map(({ path, message }) => ({ path: `${at}.${path}`, message })),
    )
    if (faults.length >= faultsMax) break
  }
  return faults
}
