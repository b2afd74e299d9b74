import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { AppError, messageOf } from '../../domain/errors.ts'

/** A parsed `MILLRACE_STORE`. */
export type PostgresAddress = {
  /** One or more servers of one database; the service uses the primary. */
  hosts: readonly { hostname: string; port: number }[]
  database: string
  username: string
  password: string
  /** As `sslmode` of other PostgreSQL clients. */
  tls: 'never' | 'if possible' | PostgresTls
  /** Whether statements are prepared; `prepare=false` for poolers that do not support that. */
  prepares: boolean
}

/** How a server's certificate is verified; texts in PEM. */
export type PostgresTls = {
  rejectUnauthorized: boolean
  checkServerIdentity?: () => undefined
  ca?: string
  cert?: string
  key?: string
}

/** Parses `postgres://user:password@host:port,host:port/database?name=value`. Throws `INVALID_INPUT`. */
export function parseAddress(text: string): PostgresAddress {
  const [, authority, database, query] = /^postgres(?:ql)?:\/\/([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/.exec(text) ?? []
  if (authority === undefined) throw invalid('It has to begin with postgres://.')
  const at = authority.lastIndexOf('@')
  const [username = '', ...password] = authority.slice(0, Math.max(at, 0)).split(':')
  const parameters = new URLSearchParams(query)
  for (const name of parameters.keys()) {
    if (!parameterNames.includes(name)) {
      throw invalid(`The parameter "${name}" is not supported. Supported are: ${parameterNames.join(', ')}.`)
    }
  }
  const name = decoded(username) || 'postgres'
  return {
    hosts: authority
      .slice(at + 1)
      .split(',')
      .map(hostOf),
    database: decoded(database ?? '') || name,
    username: name,
    password: decoded(password.join(':')),
    tls: tlsOf(parameters),
    prepares: choice(parameters, 'prepare', ['true', 'false']) !== 'false',
  }
}

/** The servers of an address, for messages. */
export function hostsText({ hosts }: PostgresAddress): string {
  return hosts.map(({ hostname, port }) => `${hostname}:${port}`).join(', ')
}

const parameterNames = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'prepare', 'target_session_attrs']
const sslModes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const

function hostOf(text: string): PostgresAddress['hosts'][number] {
  const [, hostname = '', port = '5432'] = /^(\[[^\]]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(text.trim()) ?? []
  if (hostname === '' || Number(port) < 1 || Number(port) > 65_535)
    throw invalid(`"${text}" is not the address of a server, such as db.example.org:5432.`)
  return { hostname: hostname.replace(/^\[|\]$/g, ''), port: Number(port) }
}

function tlsOf(parameters: URLSearchParams): PostgresAddress['tls'] {
  // The service needs the primary in any case. Other values would ask for a server that accepts no changes.
  choice(parameters, 'target_session_attrs', ['any', 'read-write', 'primary'])
  const mode = choice(parameters, 'sslmode', sslModes) ?? 'prefer'
  if (mode === 'disable') return 'never'
  const files = { ca: 'sslrootcert', cert: 'sslcert', key: 'sslkey' } as const
  const options: Pick<PostgresTls, 'ca' | 'cert' | 'key'> = {}
  for (const [member, parameter] of Object.entries(files)) {
    const path = parameters.get(parameter)
    if (path !== null && path !== 'system') options[member as keyof typeof files] = read(path, parameter)
  }
  assertPair(options)
  if (mode === 'verify-full') return { ...options, rejectUnauthorized: true }
  // Like other clients: with a certificate authority, `require` verifies the certificate, but not the host's name.
  if (mode === 'verify-ca' || (mode === 'require' && options.ca !== undefined)) {
    return { ...options, rejectUnauthorized: true, checkServerIdentity: () => undefined }
  }
  if (mode === 'require') return { ...options, rejectUnauthorized: false }
  if (options.cert !== undefined)
    throw invalid('With sslcert and sslkey, sslmode has to be require, verify-ca or verify-full.')
  return 'if possible'
}

/** A certificate is of use only with its key. */
function assertPair({ cert, key }: Pick<PostgresTls, 'cert' | 'key'>): void {
  if ((cert === undefined) !== (key === undefined)) throw invalid('sslcert and sslkey belong together.')
  if (cert === undefined || key === undefined) return
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) {
    throw invalid('The key of sslkey does not belong to the certificate of sslcert.')
  }
}

function choice<const Name extends string>(
  parameters: URLSearchParams,
  parameter: string,
  allowed: readonly Name[],
): Name | undefined {
  const value = parameters.get(parameter)
  if (value === null) return undefined
  const found = allowed.find((each) => each === value)
  if (found === undefined) throw invalid(`${parameter} is "${value}". Allowed are: ${allowed.join(', ')}.`)
  return found
}

function read(path: string, parameter: string): string {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw invalid(`The file of ${parameter} cannot be read: ${messageOf(error)}.`)
  }
  try {
    if (parameter === 'sslkey') createPrivateKey(text)
    else new X509Certificate(text)
  } catch {
    const what = parameter === 'sslkey' ? 'a key without a password' : 'a certificate'
    throw invalid(`The file of ${parameter} does not contain ${what} in PEM format.`)
  }
  return text
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw invalid('It contains a "%" that is not followed by two hexadecimal digits. Write "%25" for a percent sign.')
  }
}

function invalid(problem: string): AppError {
  return new AppError('INVALID_INPUT', `MILLRACE_STORE is not a valid PostgreSQL address. ${problem}`)
}
