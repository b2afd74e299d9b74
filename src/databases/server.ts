import type { OpenCredential } from '../domain/credential/open-credential.ts'
import { DatabaseError } from '../domain/database/database.ts'
import type { ResolveTcp, TcpTarget } from '../domain/tcp-target.ts'

/** A server as a credential describes it. */
export type Server = {
  host: string
  port: number
  database: string
  user: string
  password: string
  tls: Tls
}

/** `verify`: the certificate must be valid for the name. `require`: encrypted, with any certificate. */
export type Tls = { mode: 'verify' | 'require' | 'off'; ca: string | undefined }

/** The options of a TLS connection to a server; undefined without TLS. */
export type TlsOptions = { rejectUnauthorized: boolean; servername?: string; host: string; ca?: string }

export function serverOf({ name, fields, secrets }: OpenCredential, defaultPort: number): Server {
  const text = (field: string) => String(fields[field] ?? '').trim()
  const port = text('port') === '' ? defaultPort : Number(text('port'))
  const host = text('host')
  if (host === '') throw new DatabaseError('CREDENTIAL_FAILED', `The credential "${name}" has no host.`)
  const mode = text('tls') as Tls['mode'] | ''
  const ca = text('authority')
  return {
    ...{ host, port, database: text('database'), user: text('user'), password: secrets['password'] ?? '' },
    tls: { mode: mode === '' ? 'verify' : mode, ca: ca === '' ? undefined : ca },
  }
}

export function tlsOptionsOf({ mode, ca }: Tls, { host, serverName }: TcpTarget): TlsOptions | undefined {
  if (mode === 'off') return undefined
  return {
    rejectUnauthorized: mode === 'verify',
    host: serverName ?? host.replace(/^\[|\]$/g, ''),
    ...(serverName === undefined ? {} : { servername: serverName }),
    ...(ca === undefined ? {} : { ca }),
  }
}

/** How connections are made. */
export type Connecting = { server: Server; resolveTcp: ResolveTcp; signal: AbortSignal }
