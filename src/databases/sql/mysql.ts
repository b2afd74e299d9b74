import type { Connection, ConnectionOptions, FieldPacket, QueryError, ResultSetHeader } from 'mysql2'
import { DatabaseError } from '../../domain/database/database.ts'
import { messageOf } from '../../domain/errors.ts'
import type { TcpTarget } from '../../domain/tcp-target.ts'
import { ByteMeter } from '../byte-meter.ts'
import { type Connecting, tlsOptionsOf } from '../server.ts'
import { connectTcp } from '../tcp-socket.ts'
import type { SqlConnection, StatementBounds, StatementResult } from './connection.ts'
import { lostText, tooManyValues } from './failures.ts'
import { isMysqlError, mysqlConnectFailure } from './mysql-failures.ts'
import { mysqlTypeName, mysqlValue } from './mysql-types.ts'
import { lineIn } from './position.ts'
import type { Statement } from './statements.ts'
import { rowOf } from './values.ts'

/** The internals of a connection that its types do not have. */
type Inner = {
  stream: import('node:stream').Duplex
  startTLS(onSecure: (error?: Error) => void): void
  sequenceId: number
  handlePacket(packet: { sequenceId: number } | undefined): void
}
type Command = NodeJS.EventEmitter
/** Members of the options that the types of `mysql2` do not have. */
type Options = ConnectionOptions & { disableEval: boolean; maxPreparedStatements: number }

/**
 * A connection to MySQL or MariaDB. Statements are prepared, so that the server receives values apart from them.
 * `sql_select_limit` keeps further rows on the server.
 */
export class MysqlConnection implements SqlConnection {
  readonly #connection: Connection
  readonly #meter: ByteMeter
  readonly #target: TcpTarget
  /** Opens another connection to the same server, to stop a statement of this one. */
  readonly #again: (signal: AbortSignal) => Promise<MysqlConnection>
  #limit: number | undefined
  #isLost = false
  #isBusy = false

  static async open(connecting: Connecting): Promise<MysqlConnection> {
    const { server, resolveTcp, signal } = connecting
    const target = await resolveTcp(server, signal)
    const [{ default: mysql }, socket] = await Promise.all([import('mysql2'), connectTcp(target, signal)])
    const meter = new ByteMeter(restBytesMax)
    const tls = tlsOptionsOf(server.tls, target)
    const options: Options = {
      stream: socket,
      // For the certificate; the connection is made.
      host: tls?.host ?? target.host,
      user: server.user,
      password: server.password,
      ...(server.database === '' ? {} : { database: server.database }),
      ...(tls && { ssl: { ...(tls.ca && { ca: tls.ca }), ...identityOf(tls.rejectUnauthorized) } }),
      // A server must not read files of this machine.
      flags: ['-LOCAL_FILES'],
      // Only an encrypted connection may carry the password as it is.
      enableCleartextPlugin: tls !== undefined,
      charset: 'utf8mb4',
      supportBigNumbers: true,
      dateStrings: true,
      jsonStrings: true,
      rowsAsArray: true,
      multipleStatements: false,
      // Names of columns must not become a part of code.
      disableEval: true,
      maxPreparedStatements: 20,
      connectTimeout: 0,
    }
    const abort = () => socket.destroy()
    signal.addEventListener('abort', abort, { once: true })
    try {
      const connection = mysql.createConnection(options)
      // Without a listener, an error of an idle connection would end the process.
      connection.on('error', () => {})
      meter.watch(socket)
      guardTls(connection, meter)
      refuseDisorder(connection)
      await new Promise<void>((resolve, reject) => {
        socket.once('close', () => reject(new Error('The connection was closed')))
        connection.connect((error) => (error ? reject(error) : resolve()))
      })
      const again = (later: AbortSignal) =>
        MysqlConnection.open({ server, resolveTcp: async () => target, signal: later })
      const opened = new MysqlConnection(connection, meter, target, again)
      await opened.#plain("SET time_zone = '+00:00'")
      return opened
    } catch (error) {
      socket.destroy()
      if (signal.aborted) throw signal.reason
      throw mysqlConnectFailure(error, target, meter)
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  private constructor(
    connection: Connection,
    meter: ByteMeter,
    target: TcpTarget,
    again: (signal: AbortSignal) => Promise<MysqlConnection>,
  ) {
    this.#connection = connection
    this.#meter = meter
    this.#target = target
    this.#again = again
    const lost = () => {
      this.#isLost = true
    }
    ;(connection as unknown as Inner).stream.on('close', lost)
  }

  get isUsable(): boolean {
    return !this.#isLost && !this.#isBusy
  }

  begin(isReadOnly: boolean): Promise<void> {
    return this.#plain(isReadOnly ? 'START TRANSACTION READ ONLY' : 'START TRANSACTION')
  }

  commit(): Promise<void> {
    return this.#plain('COMMIT')
  }

  rollback(): Promise<void> {
    return this.#plain('ROLLBACK')
  }

  async run(statement: Statement, bounds: StatementBounds): Promise<StatementResult> {
    this.#meter.start(bounds.bytesMax, bounds.memory)
    this.#isBusy = true
    try {
      await this.#setLimit(bounds.maxRows === undefined ? undefined : bounds.maxRows + 1)
      const values = statement.values.map((value) => value ?? null) as string[]
      const { text: sql } = statement
      const prepared = () => this.#connection.execute({ sql, values }) as unknown as Command
      const plain = () => this.#connection.query({ sql }) as unknown as Command
      const result = await this.#read(prepared, bounds).catch((error: unknown) => {
        // Some statements cannot be prepared. Without values, they need not be.
        if ((error as QueryError).errno !== notPreparable || values.length > 0) throw error
        return this.#read(plain, bounds)
      })
      this.#isBusy = false
      return result
    } catch (error) {
      this.#isBusy = !isMysqlError(error)
      if (error instanceof DatabaseError) throw error
      throw this.#failure(error, statement)
    } finally {
      this.#meter.end()
    }
  }

  cancel(): void {
    this.#isLost = true
    const { threadId } = this.#connection
    const deadline = AbortSignal.timeout(cancelMsMax)
    deadline.addEventListener('abort', () => this.close(), { once: true })
    void this.#again(deadline)
      .then(async (other) => {
        await other.#plain(`KILL QUERY ${Number(threadId)}`).finally(() => other.close())
      })
      .catch(() => {})
  }

  close(): void {
    this.#isLost = true
    ;(this.#connection as unknown as Inner).stream.destroy()
  }

  async #setLimit(limit: number | undefined): Promise<void> {
    if (limit === this.#limit) return
    await this.#plain(`SET sql_select_limit = ${limit ?? 'DEFAULT'}`)
    this.#limit = limit
  }

  /** The rows of the last result: a procedure gives several. */
  #read(start: () => Command, { maxRows, valuesMax }: StatementBounds): Promise<StatementResult> {
    return new Promise((resolve, reject) => {
      let columns: FieldPacket[] = []
      let named: { name: string; type: string }[] = []
      let rows: Record<string, unknown>[] = []
      let count = 0
      let values = 0
      let changed: number | undefined
      const stream = (this.#connection as unknown as Inner).stream
      const lost = () => fail(new Error('The connection was closed'))
      stream.once('close', lost)
      const fail = (error: unknown) => {
        stream.off('close', lost)
        reject(error)
      }
      const command = start()
      command.on('error', fail)
      command.on('fields', (fields: FieldPacket[] | undefined) => {
        if (!fields) return
        columns = fields
        named = fields.map((field) => ({ name: field.name, type: mysqlTypeName(field) }))
        rows = []
        count = 0
      })
      command.on('result', (row: unknown[] | ResultSetHeader) => {
        if (!Array.isArray(row)) {
          changed = (changed ?? 0) + row.affectedRows
          return
        }
        count += 1
        if (maxRows === undefined || count > maxRows) return
        values += row.length
        if (values > valuesMax) {
          fail(tooManyValues(valuesMax))
          this.close()
          return
        }
        rows.push(
          rowOf(
            named,
            row.map((value, index) => mysqlValue(value, columns[index])),
          ),
        )
      })
      command.on('end', () => {
        stream.off('close', lost)
        resolve({ columns: named, rows, changed, hasMore: maxRows !== undefined && count > maxRows })
      })
    })
  }

  #plain(sql: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const { stream } = this.#connection as unknown as Inner
      const lost = () => reject(this.#failure(new Error('The connection was closed'), undefined))
      stream.once('close', lost)
      this.#connection.query(sql, (error) => {
        stream.off('close', lost)
        if (error) reject(this.#failure(error, undefined))
        else resolve()
      })
    })
  }

  #failure(error: unknown, statement: Statement | undefined): DatabaseError {
    if (!isMysqlError(error)) {
      if (/LOCAL INFILE/.test(messageOf(error))) {
        return new DatabaseError(
          'INVALID_QUERY',
          'LOAD DATA LOCAL is refused: the server would read files of this machine.',
        )
      }
      return new DatabaseError('CONNECTION_FAILED', lostText(this.#target, this.#meter), {}, error)
    }
    const { sqlState, errno, message } = error
    const line = Number(/ at line (\d+)$/.exec(message)?.[1])
    const position = statement && line > 0 ? lineIn(statement, line) : undefined
    const facts = { sqlState, errno, ...(position && { position }) }
    return new DatabaseError('SQL_ERROR', `${message.replace(/ at line \d+$/, '')} (${errno})`, facts, error)
  }
}

function identityOf(isVerified: boolean) {
  return { rejectUnauthorized: isVerified, verifyIdentity: isVerified }
}

/** Watches the encrypted stream from its beginning. */
function guardTls(connection: Connection, meter: ByteMeter): void {
  const inner = connection as unknown as Inner
  const startTls = inner.startTLS.bind(connection)
  inner.startTLS = (onSecure) => {
    startTls(onSecure)
    meter.watch(inner.stream)
  }
}

/** `mysql2` would print a warning and go on. The meter takes the error. */
function refuseDisorder(connection: Connection): void {
  const inner = connection as unknown as Inner
  const handle = inner.handlePacket.bind(connection)
  inner.handlePacket = (packet) => {
    if (packet && packet.sequenceId !== inner.sequenceId) throw new Error('Packets are out of order')
    handle(packet)
  }
}

const notPreparable = 1295
const restBytesMax = 1_048_576
const cancelMsMax = 1_000
