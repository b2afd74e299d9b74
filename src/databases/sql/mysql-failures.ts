import type { QueryError } from 'mysql2'
import { DatabaseError } from '../../domain/database/database.ts'
import type { TcpTarget } from '../../domain/tcp-target.ts'
import type { ByteMeter } from '../byte-meter.ts'
import { lostText, noTlsText } from './failures.ts'

export function isMysqlError(error: unknown): error is QueryError & { errno: number; sqlState: string } {
  const { errno, sqlState } = (error ?? {}) as { errno?: unknown; sqlState?: unknown }
  return typeof errno === 'number' && typeof sqlState === 'string'
}

/** The error of a connection that was not made. */
export function mysqlConnectFailure(error: unknown, target: TcpTarget, meter: ByteMeter): DatabaseError {
  if (error instanceof DatabaseError) return error
  const { host, port } = target
  if (isMysqlError(error)) {
    const code = refusals.includes(error.errno) ? 'CREDENTIAL_FAILED' : 'CONNECTION_FAILED'
    const text = `${host}:${port} refused the connection: ${error.message} (${error.errno})`
    return new DatabaseError(code, text, { sqlState: error.sqlState, errno: error.errno })
  }
  const { code } = (error ?? {}) as { code?: string }
  if (code === 'HANDSHAKE_NO_SSL_SUPPORT') return new DatabaseError('CONNECTION_FAILED', noTlsText(target))
  if (code !== undefined && /CERT|SELF_SIGNED|UNABLE_TO|TLS|SSL|CRL/.test(code)) {
    return new DatabaseError('CONNECTION_FAILED', `The certificate of ${host} was not accepted: ${code}`, {}, error)
  }
  return new DatabaseError('CONNECTION_FAILED', lostText(target, meter), {}, error)
}

/** Access denied for a user or to a database, an unknown database. */
const refusals = [1044, 1045, 1049, 1698]
