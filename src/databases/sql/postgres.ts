import type { Socket } from 'node:net'
import type { Client, DatabaseError as ServerError } from 'pg'
import type Cursor from 'pg-cursor'
import { DatabaseError } from '../../domain/database/database.ts'
import { messageOf } from '../../domain/errors.ts'
import { responseBytesMax } from '../../domain/limits.ts'
import type { TcpTarget } from '../../domain/tcp-target.ts'
import { ByteMeter } from '../byte-meter.ts'
import { type Connecting, tlsOptionsOf } from '../server.ts'
import { connectTcp } from '../tcp-socket.ts'
import type { SqlConnection, StatementBounds, StatementResult } from './connection.ts'
import { lostText, noTlsText, tooManyValues } from './failures.ts'
import { positionIn } from './position.ts'
import { wholeMessages } from './postgres-frames.ts'
import { postgresParser, postgresTypeName } from './postgres-types.ts'
import type { Statement } from './statements.ts'
import { rowOf } from './values.ts'

/** The internals of a client that its types do not have. */
type Inner = { connection: { stream: Socket; on(event: 'sslconnect', listener: () => void): void } }
type Identified = { processID: number | null; secretKey: number | Buffer | null }

/**
 * A connection to PostgreSQL. `pg` reads a result through a portal: the server sends a portion of rows when it is asked
 * for one, whatever the statement is.
 */
export class PostgresConnection implements SqlConnection {
  readonly #client: Client
  readonly #cursor: typeof Cursor
  readonly #meter: ByteMeter
  readonly #target: TcpTarget
  #isBusy = false
  #isLost = false

  static async open({ server, resolveTcp, signal }: Connecting): Promise<PostgresConnection> {
    const target = await resolveTcp(server, signal)
    const [{ default: pg }, { default: PgCursor }, socket] = await Promise.all([
      import('pg'),
      import('pg-cursor'),
      connectTcp(target, signal),
    ])
    const meter = new ByteMeter(restBytesMax)
    const client = new pg.Client({
      host: target.addresses[0]!,
      port: target.port,
      user: server.user,
      database: server.database === '' ? server.user : server.database,
      // As a function: `pg` would replace an empty text by a password from the environment of the service.
      password: () => server.password,
      ssl: tlsOptionsOf(server.tls, target) ?? false,
      stream: () => alreadyConnected(socket),
      application_name: 'millrace',
    })
    // Without a listener, an error of an idle connection would end the process.
    client.on('error', () => {})
    const abort = () => socket.destroy()
    signal.addEventListener('abort', abort, { once: true })
    try {
      const connecting = client.connect()
      const tls = tlsOptionsOf(server.tls, target)
      // Before TLS begins, the server answers with a single byte.
      meter.watch(socket, tls ? undefined : wholeMessages(messageBytesMax))
      const { connection } = client as unknown as Inner
      connection.on('sslconnect', () => meter.watch(connection.stream, wholeMessages(messageBytesMax)))
      await connecting
      const opened = new PostgresConnection(client, PgCursor, meter, target)
      await client.query("SET datestyle = 'ISO'; SET bytea_output = 'hex'; SET intervalstyle = 'iso_8601'")
      return opened
    } catch (error) {
      socket.destroy()
      if (signal.aborted) throw signal.reason
      throw connectFailure(error, target, meter)
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  private constructor(client: Client, cursor: typeof Cursor, meter: ByteMeter, target: TcpTarget) {
    this.#client = client
    this.#cursor = cursor
    this.#meter = meter
    this.#target = target
    client.on('end', () => {
      this.#isLost = true
    })
  }

  get isUsable(): boolean {
    return !this.#isLost && !this.#isBusy
  }

  begin(isReadOnly: boolean): Promise<void> {
    return this.#plain(isReadOnly ? 'BEGIN READ ONLY' : 'BEGIN')
  }

  async commit(): Promise<void> {
    const { command } = await this.#queried('COMMIT')
    // A transaction that failed commits nothing, and PostgreSQL does not call that an error.
    if (command !== 'COMMIT') throw new DatabaseError('SQL_ERROR', 'PostgreSQL rolled the transaction back.')
  }

  rollback(): Promise<void> {
    return this.#plain('ROLLBACK')
  }

  async run(statement: Statement, bounds: StatementBounds): Promise<StatementResult> {
    const { text, values } = statement
    this.#meter.start(bounds.bytesMax, bounds.memory)
    this.#isBusy = true
    try {
      const cursor = this.#client.query(
        new this.#cursor(
          text,
          values.map((value, index) => parameterOf(value, index + 1, text)) as unknown[],
          {
            rowMode: 'array',
            types: { getTypeParser: postgresParser },
          } as ConstructorParameters<typeof Cursor>[2],
        ),
      )
      const result = await readAll(cursor, bounds)
      this.#isBusy = false
      return result
    } catch (error) {
      // After an error of the server, `pg` has the connection in order again.
      this.#isBusy = !isServerError(error)
      if (error instanceof DatabaseError) throw error
      throw this.#failure(error, statement)
    } finally {
      this.#meter.end()
    }
  }

  cancel(): void {
    const { processID, secretKey } = this.#client as unknown as Identified
    void askToCancel(this.#target, processID, secretKey).catch(() => {})
    const timer = setTimeout(() => this.close(), cancelMsMax)
    this.#client.once('end', () => clearTimeout(timer))
    // A connection whose statement was stopped is not used again: a late request could stop the next statement.
    this.#isLost = true
  }

  close(): void {
    this.#isLost = true
    ;(this.#client as unknown as Inner).connection.stream.destroy()
  }

  async #plain(text: string): Promise<void> {
    await this.#queried(text)
  }

  async #queried(text: string) {
    try {
      return await this.#client.query(text)
    } catch (error) {
      throw this.#failure(error, undefined)
    }
  }

  #failure(error: unknown, statement: Statement | undefined): DatabaseError {
    if (!isServerError(error)) {
      // The parser returns this for a message that PostgreSQL does not have.
      if (/received invalid response/.test(messageOf(error))) this.#meter.fault ??= error
      return new DatabaseError('CONNECTION_FAILED', lostText(this.#target, this.#meter), {}, error)
    }
    const { code, message, hint } = error
    // The server closes the connection after a fatal error. The end may arrive later than the next statement is sent.
    // Servers may translate the severity, so the codes of a shutdown count as well.
    if (error.severity === 'FATAL' || error.severity === 'PANIC' || code.startsWith('57P')) this.#isLost = true
    const position = statement && error.position ? positionIn(statement, Number(error.position)) : undefined
    const facts = { sqlState: code, ...(position ? { position } : {}), ...(hint ? { hint } : {}) }
    return new DatabaseError('SQL_ERROR', `${message} (${code})`, facts, error)
  }
}

async function readAll(cursor: Cursor, { maxRows, valuesMax }: StatementBounds): Promise<StatementResult> {
  const rows: Record<string, unknown>[] = []
  let values = 0
  let read: ReadPortion
  do {
    const wanted = maxRows === undefined ? portionRows : Math.min(portionRows, maxRows + 1 - rows.length)
    read = await portionOf(cursor, wanted)
    if (maxRows === undefined) continue
    const columns = columnsOf(read)
    for (const row of read.rows) {
      values += row.length
      if (values > valuesMax) throw tooManyValues(valuesMax)
      rows.push(rowOf(columns, row))
    }
    if (rows.length > maxRows) {
      await cursor.close()
      return { columns, rows: rows.slice(0, maxRows), changed: undefined, hasMore: true }
    }
  } while (read.rows.length > 0 && read.result.command === null)
  const { command, rowCount } = read.result
  const changed = command !== null && changing.has(command) ? (rowCount ?? 0) : undefined
  return { columns: columnsOf(read), rows, changed, hasMore: false }
}

type ReadPortion = {
  rows: unknown[][]
  result: { command: string | null; rowCount: number | null; fields?: { name: string; dataTypeID: number }[] }
}

function portionOf(cursor: Cursor, count: number): Promise<ReadPortion> {
  return new Promise((resolve, reject) => {
    cursor.read(count, (error, rows, result) => {
      if (error) reject(error)
      else resolve({ rows: rows as unknown[][], result: result ?? { command: 'NONE', rowCount: 0 } })
    })
  })
}

function columnsOf({ result }: ReadPortion) {
  return (result.fields ?? []).map(({ name, dataTypeID }) => ({ name, type: postgresTypeName(dataTypeID) }))
}

/** `pg` would send every list as an array. */
function parameterOf(value: unknown, number: number, text: string): unknown {
  if (!Array.isArray(value)) return value
  const isJson = value.some(isRecord) || new RegExp(`\\$${number}\\s*::\\s*jsonb?\\b`, 'i').test(text)
  return isJson ? JSON.stringify(value) : value
}

const isRecord = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)

/** `pg` connects the stream that it gets. */
function alreadyConnected(socket: Socket): Socket {
  socket.connect = () => {
    process.nextTick(() => socket.emit('connect'))
    return socket
  }
  return socket
}

/** A request on a connection of its own, as the protocol demands. */
async function askToCancel(target: TcpTarget, processId: number | null, key: Identified['secretKey']): Promise<void> {
  if (processId === null || key === null) return
  const keyBytes = typeof key === 'number' ? Buffer.alloc(4) : key
  if (typeof key === 'number') keyBytes.writeInt32BE(key)
  const message = Buffer.alloc(12 + keyBytes.byteLength)
  message.writeInt32BE(message.byteLength, 0)
  message.writeInt32BE(80_877_102, 4)
  message.writeInt32BE(processId, 8)
  keyBytes.copy(message, 12)
  const socket = await connectTcp(target, AbortSignal.timeout(cancelMsMax))
  socket.end(message)
  socket.resume()
  setTimeout(() => socket.destroy(), cancelMsMax)
}

function isServerError(error: unknown): error is ServerError & { code: string } {
  const code = (error as { code?: unknown } | null)?.code
  return error instanceof Error && 'severity' in error && typeof code === 'string'
}

function connectFailure(error: unknown, target: TcpTarget, meter: ByteMeter): unknown {
  const { host, port } = target
  if (error instanceof DatabaseError) return error
  if (isServerError(error)) {
    const isRefusal = error.code.startsWith('28')
    const facts = { sqlState: error.code }
    const code = isRefusal ? 'CREDENTIAL_FAILED' : 'CONNECTION_FAILED'
    return new DatabaseError(code, `${host}:${port} refused the connection: ${error.message} (${error.code})`, facts)
  }
  const { code, message = '' } = (error ?? {}) as { code?: string; message?: string }
  if (/does not support SSL/.test(message)) return new DatabaseError('CONNECTION_FAILED', noTlsText(target))
  if (code !== undefined && /CERT|SELF_SIGNED|UNABLE_TO|TLS|SSL|CRL/.test(code)) {
    return new DatabaseError('CONNECTION_FAILED', `The certificate of ${host} was not accepted: ${code}`, {}, error)
  }
  return new DatabaseError('CONNECTION_FAILED', lostText(target, meter), {}, error)
}

const changing = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE', 'COPY'])
const portionRows = 500
const messageBytesMax = 2 * responseBytesMax
/** Until the server has accepted the connection, and while it is idle. */
const restBytesMax = 1_048_576
const cancelMsMax = 1_000
