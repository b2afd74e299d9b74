import { DatabaseError } from '../../domain/database/database.ts'
import type { TcpTarget } from '../../domain/tcp-target.ts'
import type { ByteMeter } from '../byte-meter.ts'

export function tooManyValues(valuesMax: number): DatabaseError {
  const message = `The rows have more than ${valuesMax} values. Select fewer columns or rows, or set maxRows.`
  return new DatabaseError('RESPONSE_TOO_LARGE', message)
}

export function noTlsText({ host, port }: TcpTarget): string {
  return `${host}:${port} offers no TLS. If its network is safe, set "tls" of the credential to "off".`
}

export function lostText({ host, port }: TcpTarget, { isOver, fault }: ByteMeter): string {
  if (isOver) return `${host}:${port} sent more than is accepted, so the connection was closed.`
  if (fault !== undefined) return `${host}:${port} sent something that is not the protocol of the database.`
  return `The connection to ${host}:${port} was lost.`
}
