import { connectorBounds } from '../domain/connector/bounds.ts'
import { AppError } from '../domain/errors.ts'

/** The part of the port for the connectors that workspaces add. */
export interface ConnectorStore {
  /** By ID; none when there is no such workspace. */
  listConnectors(workspaceId: string): Promise<ConnectorRow[]>
  getConnector(workspaceId: string, id: string): Promise<ConnectorRow | undefined>
  /**
   * Adds a connector, or replaces the one of this ID. True when it is new. NOT_FOUND when there is no such workspace,
   * INVALID_INPUT beyond `connectorBounds`.
   */
  putConnector(connector: ConnectorRow): Promise<boolean>
  /** False when there is no such connector. */
  deleteConnector(workspaceId: string, id: string): Promise<boolean>
}

/** `document`: JSON. `updatedBy`: the account of the last change. */
export type ConnectorRow = { workspaceId: string; id: string; document: string; updatedAt: number; updatedBy: string }

/** Throws INVALID_INPUT when a workspace has no room for another connector. `others`: its other connectors. */
export function assertConnectorFits(others: { count: number; bytes: number }, document: string): void {
  const { perWorkspaceMax, workspaceBytesMax } = connectorBounds
  const more = 'Delete connectors that you no longer need.'
  if (others.count >= perWorkspaceMax) {
    throw new AppError('INVALID_INPUT', `A workspace can have at most ${perWorkspaceMax} connectors. ${more}`)
  }
  if (others.bytes + Buffer.byteLength(document) > workspaceBytesMax) {
    const message = `The connectors of a workspace can have at most ${workspaceBytesMax} bytes in all. ${more}`
    throw new AppError('INVALID_INPUT', message)
  }
}
