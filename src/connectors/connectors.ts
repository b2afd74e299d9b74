import { FreshCache } from '../accounts/fresh-cache.ts'
import type { Clock } from '../domain/clock.ts'
import type { Connector } from '../domain/connector/connector.ts'
import { connectorsIn, operationFindings } from '../domain/connector/findings.ts'
import { AppError, problemsError } from '../domain/errors.ts'
import type { Finding, WorkflowDocument } from '../domain/workflow/workflow.ts'
import type { ConnectorRow } from '../store/connector-store.ts'
import type { Store } from '../store/store.ts'
import { BuiltIn } from './built-in.ts'

export type ConnectorsOptions = {
  store: Pick<Store, 'listConnectors' | 'getConnector' | 'putConnector' | 'deleteConnector'>
  clock: Clock
}

/** A connector with its last change; null for one that comes with the service. */
export type ListedConnector = { connector: Connector; row: ConnectorRow | null }

/**
 * The connectors that a workspace can use: those that come with the service, and its own. A change made through this
 * object applies immediately; a change made by another process applies within 5 s (see `FreshCache`).
 */
export class Connectors {
  readonly #options: ConnectorsOptions
  readonly #builtIn = new BuiltIn()
  /** Connectors of workspaces, by workspace and ID. */
  readonly #known: FreshCache<{ document: string; connector: Connector }>

  constructor(options: ConnectorsOptions) {
    this.#options = options
    this.#known = new FreshCache({
      ask: async (key, before) => {
        const [workspaceId = '', id = ''] = key.split(' ')
        const row = await options.store.getConnector(workspaceId, id)
        if (!row) return undefined
        return row.document === before?.document ? before : { document: row.document, connector: connectorOf(row) }
      },
      clock: options.clock,
      entriesMax: 200,
    })
  }

  async find(workspaceId: string, id: string): Promise<Connector | undefined> {
    const builtIn = await this.#builtIn.find(id)
    if (builtIn) return builtIn
    return id.includes(' ') ? undefined : (await this.#known.get(keyOf(workspaceId, id)))?.connector
  }

  /** The findings about the operations that a document calls. Reads only the connectors that it names. */
  async findingsAbout(document: WorkflowDocument, workspaceId: string): Promise<Finding[]> {
    const found = await Promise.all(connectorsIn(document).map((id) => this.find(workspaceId, id)))
    const known = found.flatMap((connector): [string, Connector][] => (connector ? [[connector.id, connector]] : []))
    return operationFindings(document, new Map(known))
  }

  /** Those of the workspace come first. Both kinds are in the order of their names. */
  async list(workspaceId: string): Promise<ListedConnector[]> {
    const rows = await this.#options.store.listConnectors(workspaceId)
    const own = rows.map((row) => ({ connector: connectorOf(row), row }))
    const byName = own.toSorted((one, other) => one.connector.name.localeCompare(other.connector.name, 'en'))
    return [...byName, ...(await this.#builtIn.list()).map((connector) => ({ connector, row: null }))]
  }

  /** NOT_FOUND when there is none of this ID. */
  async get(workspaceId: string, id: string): Promise<ListedConnector> {
    const builtIn = await this.#builtIn.find(id)
    if (builtIn) return { connector: builtIn, row: null }
    const row = await this.#options.store.getConnector(workspaceId, id)
    if (!row) throw new AppError('NOT_FOUND', `The workspace has no connector "${id.slice(0, 100)}".`)
    return { connector: connectorOf(row), row }
  }

  /**
   * Adds or replaces a connector of the workspace. INVALID_INPUT lists everything that is wrong with the document;
   * CONFLICT for the ID of a connector that comes with the service.
   */
  async put(workspaceId: string, id: string, document: unknown, by: string): Promise<{ isNew: boolean }> {
    if (await this.#builtIn.find(id)) {
      throw new AppError('CONFLICT', `The connector "${id}" comes with the service. Choose another ID.`)
    }
    const { connectorFaults } = await import('../domain/connector/validate.ts')
    const faults = connectorFaults(document)
    if (faults.length > 0) throw problemsError('INVALID_INPUT', faults)
    const connector = document as Connector
    if (connector.id !== id) {
      const message = `The document has the ID "${connector.id}", but the address has "${id.slice(0, 100)}".`
      throw problemsError('INVALID_INPUT', [{ path: 'id', message }])
    }
    const row = { workspaceId, id, document: JSON.stringify(connector), updatedBy: by }
    try {
      return { isNew: await this.#options.store.putConnector({ ...row, updatedAt: this.#options.clock.now() }) }
    } finally {
      this.#known.invalidate(keyOf(workspaceId, id))
    }
  }

  /** NOT_FOUND when there is none of this ID, CONFLICT for one that comes with the service. */
  async delete(workspaceId: string, id: string): Promise<void> {
    if (await this.#builtIn.find(id)) {
      throw new AppError('CONFLICT', `The connector "${id}" comes with the service, and cannot be deleted.`)
    }
    try {
      if (await this.#options.store.deleteConnector(workspaceId, id)) return
      throw new AppError('NOT_FOUND', `The workspace has no connector "${id.slice(0, 100)}".`)
    } finally {
      this.#known.invalidate(keyOf(workspaceId, id))
    }
  }
}

function keyOf(workspaceId: string, id: string): string {
  return `${workspaceId} ${id}`
}

function connectorOf({ document }: ConnectorRow): Connector {
  return JSON.parse(document) as Connector
}
