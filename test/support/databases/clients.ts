import { resolve } from 'node:path'
import { DatabaseClients } from '../../../src/databases/databases.ts'
import { type Clock, systemClock } from '../../../src/domain/clock.ts'
import type { OpenCredential } from '../../../src/domain/credential/open-credential.ts'
import type { DatabaseCaller } from '../../../src/domain/database/database.ts'
import type { SqlRequest } from '../../../src/domain/database/sql.ts'
import { tcpTargets } from '../../../src/outbound/tcp-target.ts'
import { allowList } from '../outbound/peers.ts'

export type TestCredential = {
  fields: Readonly<Record<string, unknown>>
  secrets?: Readonly<Record<string, string>>
  kind?: string
}

/** Clients for databases on this machine. The credentials can be changed. */
export class TestDatabases implements AsyncDisposable {
  readonly credentials = new Map<string, TestCredential>()
  readonly clients: DatabaseClients

  constructor(
    credentials: Readonly<Record<string, TestCredential>>,
    options: { clock?: Clock; allow?: string[]; folders?: string[]; data?: string } = {},
  ) {
    const { clock = systemClock, allow = ['loopback'], folders = [], data } = options
    for (const [name, credential] of Object.entries(credentials)) this.credentials.set(name, credential)
    this.clients = new DatabaseClients({
      credentialOf: async (workspaceId, name) => this.#open(workspaceId, name),
      resolveTcp: tcpTargets({ allow: allowList(allow), lookup: async () => ['127.0.0.1'] }),
      clock,
      sqlite: { allowed: folders, data, program: [process.execPath, resolve('src/main.ts')] },
    })
  }

  sql(query: string, more: Partial<SqlRequest> & { signal?: AbortSignal } = {}) {
    const { signal, ...given } = more
    const request = { credential: 'db', query, params: [], mode: 'rows' as const, maxRows: 1_000, timeoutMs: 20_000 }
    return this.clients.sql({ ...request, ...given }, callerOf(signal))
  }

  redis(command: string, args: readonly unknown[] = [], more: { timeoutMs?: number; signal?: AbortSignal } = {}) {
    const { timeoutMs = 20_000, signal } = more
    return this.clients.redis({ credential: 'db', command, args, timeoutMs }, callerOf(signal))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.clients.stop()
  }

  #open(workspaceId: string, name: string): OpenCredential | undefined {
    const found = this.credentials.get(name)
    if (!found) return undefined
    const { fields, secrets = {}, kind = 'sql' } = found
    const facts = { state: 'untested' as const, problem: null, updatedAt: 0, tokenVersion: 0, hosts: [] }
    return { id: `id-${name}`, workspaceId, name, kind, fields, secrets, ...facts }
  }
}

export function callerOf(signal: AbortSignal = new AbortController().signal): DatabaseCaller {
  return {
    workspaceId: 'w1',
    environment: { values: new Map() },
    blockName: 'Block 1',
    signal,
    memory: { add: () => {}, hasRoom: () => true },
  }
}
