import type { Clock } from '../domain/clock.ts'
import type { OpenCredential } from '../domain/credential/open-credential.ts'
import { type DatabaseCaller, DatabaseError, type Databases } from '../domain/database/database.ts'
import type { RedisRequest } from '../domain/database/redis.ts'
import type { SqlEngine, SqlRequest, SqlResult } from '../domain/database/sql.ts'
import { jsonValuesMax, responseBytesMax } from '../domain/limits.ts'
import { OutboundError } from '../domain/outbound-request.ts'
import type { ResolveTcp } from '../domain/tcp-target.ts'
import { Pools } from './pools.ts'
import { wordsOf } from './redis/commands.ts'
import { RedisConnection } from './redis/redis.ts'
import { RedisRefusal } from './redis/reply-reader.ts'
import { serverOf } from './server.ts'
import type { SqlConnection } from './sql/connection.ts'
import { MysqlConnection } from './sql/mysql.ts'
import { PostgresConnection } from './sql/postgres.ts'
import { runStatements } from './sql/sql-session.ts'
import { checkReading, checkStatements, leavesSessionAlone, statementsOf } from './sql/statements.ts'
import { type SqliteFolders, sqlitePath } from './sqlite/file-path.ts'
import { SqliteConnection } from './sqlite/sqlite.ts'

export type DatabasesOptions = {
  /** The credential of this name with its variables filled in; undefined when there is none. */
  credentialOf(
    workspaceId: string,
    name: string,
    environment: DatabaseCaller['environment'],
  ): Promise<OpenCredential | undefined>
  resolveTcp: ResolveTcp
  clock: Clock
  /** `program`: the command that starts this program, which opens each file in a process of its own. */
  sqlite: SqliteFolders & { program: readonly string[] }
  /** Called when the server of a credential has accepted or refused it. */
  used?(credential: OpenCredential, isAccepted: boolean): void
}

/** Runs statements and commands on databases that users choose. */
export class DatabaseClients implements Databases {
  readonly #options: DatabasesOptions
  readonly #sql: Pools<SqlConnection>
  readonly #redis: Pools<RedisConnection>

  constructor(options: DatabasesOptions) {
    this.#options = options
    this.#sql = new Pools({ connectionsMax, idleMs }, options.clock)
    this.#redis = new Pools({ connectionsMax, idleMs }, options.clock)
  }

  /** Open connections. */
  get size(): number {
    return this.#sql.size + this.#redis.size
  }

  async sql(request: SqlRequest, caller: DatabaseCaller): Promise<SqlResult> {
    const credential = await this.#credential(request.credential, 'sql', caller)
    const engine = credential.fields['engine'] as SqlEngine
    const statements = statementsOf(request.query, request.params, engine)
    checkStatements(statements, request.mode, engine)
    if (request.isReadOnly) checkReading(statements)
    const bounds = { bytesMax: responseBytesMax, valuesMax: jsonValuesMax, memory: caller.memory }
    return await this.#inTime(request.timeoutMs, caller.signal, (signal) => {
      const open = () => this.#openSql(credential, signal)
      return this.#sql.use(
        poolKeyOf(credential),
        open,
        async (connection) => {
          const cancel = () => connection.cancel()
          signal.addEventListener('abort', cancel, { once: true })
          try {
            signal.throwIfAborted()
            return await runStatements(connection, statements, request, bounds)
          } finally {
            signal.removeEventListener('abort', cancel)
            if (!statements.every(leavesSessionAlone)) connection.close()
          }
        },
        signal,
      )
    })
  }

  async redis(request: RedisRequest, caller: DatabaseCaller): Promise<unknown> {
    const credential = await this.#credential(request.credential, 'redis', caller)
    const words = wordsOf(request.command, request.args)
    return await this.#inTime(request.timeoutMs, caller.signal, (signal) => {
      const open = () => this.#openRedis(credential, signal)
      const send = async (connection: RedisConnection) => {
        const cancel = () => connection.close()
        signal.addEventListener('abort', cancel, { once: true })
        try {
          const reply = await connection.send(words, caller.memory)
          if (!(reply instanceof RedisRefusal)) return reply
          throw new DatabaseError('REDIS_ERROR', reply.message)
        } finally {
          signal.removeEventListener('abort', cancel)
        }
      }
      return this.#redis.use(poolKeyOf(credential), open, send, signal)
    })
  }

  /** Connects with a credential; false if it is for something else. Rejects like the other calls. */
  async test(
    workspaceId: string,
    name: string,
    environment: DatabaseCaller['environment'],
    signal: AbortSignal,
  ): Promise<boolean> {
    const credential = await this.#options.credentialOf(workspaceId, name, environment)
    if (credential?.kind !== 'sql' && credential?.kind !== 'redis') return false
    return await this.#inTime(testMs, signal, async (inTime) => {
      const open = credential.kind === 'sql' ? this.#openSql(credential, inTime) : this.#openRedis(credential, inTime)
      ;(await open).close()
      return true
    })
  }

  stop(): void {
    this.#sql.stop()
    this.#redis.stop()
  }

  async #credential(name: string, kind: string, caller: DatabaseCaller): Promise<OpenCredential> {
    const { workspaceId, environment } = caller
    const found = await this.#options.credentialOf(workspaceId, name, environment)
    if (!found) {
      const message = `The workspace has no credential "${name}". Create it, or correct the name.`
      throw new DatabaseError('UNKNOWN_CREDENTIAL', message)
    }
    if (found.kind === kind) return found
    const message = `The credential "${name}" has the kind ${found.kind}. This block needs one of the kind ${kind}.`
    throw new DatabaseError('CREDENTIAL_FAILED', message)
  }

  async #openSql(credential: OpenCredential, signal: AbortSignal): Promise<SqlConnection> {
    const { resolveTcp, sqlite } = this.#options
    if (credential.fields['engine'] === 'sqlite') {
      const path = await sqlitePath(String(credential.fields['database'] ?? ''), sqlite)
      return await SqliteConnection.open(path, sqlite.program, signal)
    }
    if (credential.fields['engine'] === 'mysql') {
      const server = serverOf(credential, 3306)
      return await this.#opened(credential, () => MysqlConnection.open({ server, resolveTcp, signal }))
    }
    const server = serverOf(credential, 5432)
    return await this.#opened(credential, () => PostgresConnection.open({ server, resolveTcp, signal }))
  }

  async #openRedis(credential: OpenCredential, signal: AbortSignal): Promise<RedisConnection> {
    const { resolveTcp } = this.#options
    return await this.#opened(credential, () =>
      RedisConnection.open({ server: serverOf(credential, 6379), resolveTcp, signal }),
    )
  }

  /** Notes how the server took the credential. */
  async #opened<Connection>(credential: OpenCredential, open: () => Promise<Connection>): Promise<Connection> {
    const { used } = this.#options
    try {
      const connection = await open()
      used?.(credential, true)
      return connection
    } catch (error) {
      if (error instanceof DatabaseError && error.code === 'CREDENTIAL_FAILED') used?.(credential, false)
      throw error
    }
  }

  /**
   * The signal aborts when the time is up or the caller gives up. The caller stops waiting then, but the connection is
   * still busy until the server has stopped, or the connection is closed.
   */
  async #inTime<Result>(
    timeoutMs: number,
    caller: AbortSignal,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const controller = new AbortController()
    const aborted = new Promise<never>((_, reject) => {
      controller.signal.addEventListener('abort', () => reject(controller.signal.reason), { once: true })
    })
    aborted.catch(() => {})
    const late = new DatabaseError('TIMEOUT', `The database did not answer within ${timeoutMs} ms.`)
    const timer = this.#options.clock.setTimer(timeoutMs, () => controller.abort(late))
    const abort = () => controller.abort(new OutboundError('CANCELLED', 'The request was cancelled'))
    caller.addEventListener('abort', abort, { once: true })
    if (caller.aborted) abort()
    try {
      const working = work(controller.signal)
      working.catch(() => {})
      return await Promise.race([aborted, working])
    } finally {
      timer.cancel()
      caller.removeEventListener('abort', abort)
    }
  }
}

/** Variables are filled in by then, so a variable that changes makes another version, too. */
function poolKeyOf({ workspaceId, id, fields, secrets }: OpenCredential): { owner: string; version: string } {
  const version = new Bun.CryptoHasher('sha256').update(JSON.stringify([fields, secrets])).digest('hex')
  return { owner: `${workspaceId}/${id}`, version }
}

const connectionsMax = 5
const idleMs = 30_000
const testMs = 15_000
