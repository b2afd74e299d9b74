import { hostsCover } from '../domain/credential/hosts.ts'
import { needsToken } from '../domain/credential/kinds.ts'
import type { OpenCredential } from '../domain/credential/open-credential.ts'
import { MailError } from '../domain/mail/mail.ts'

/** How a connection to a mail server becomes a secure one: from its start, by a command, or never. */
export type MailTls = 'implicit' | 'starttls' | 'none'

/** A server for sending or reading mail, and how to log in there. */
export type MailServer = {
  host: string
  port: number
  tls: MailTls
  /** PEM. */
  authority?: string
  /** Absent for a server without a login. */
  user?: string
  password?: string
  /** A token instead of the password. Rejects with `OutboundError`. */
  token?(): Promise<string>
  /** Called when the server has refused a token. Whether there is another one now. */
  tokenRefused?(token: string): Promise<boolean>
}

/** Tokens of OAuth 2 credentials. */
export type MailTokens = {
  tokenOf(credential: OpenCredential): Promise<string>
  refused(credential: OpenCredential, token: string): Promise<boolean>
}

export type MailServerOptions = {
  /** The credential of this name, of the same workspace. */
  find(name: string): Promise<OpenCredential | undefined>
  tokens: MailTokens
}

/** The server that a credential of the kind `smtp` or `imap` describes. Throws `MailError`. */
export async function mailServerOf(
  credential: OpenCredential,
  kind: 'smtp' | 'imap',
  { find, tokens }: MailServerOptions,
): Promise<MailServer> {
  const { name, fields, secrets } = credential
  if (credential.kind !== kind) {
    const message = `The credential "${name}" is of the kind ${credential.kind}. A credential of the kind ${kind} is needed.`
    throw new MailError('CREDENTIAL_FAILED', message)
  }
  const text = (field: string) => textOf(fields[field])
  const host = text('host').toLowerCase()
  const tls = tlsOf(text('tls'))
  const port = text('port') === '' ? ports[kind][tls] : Number(text('port'))
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new MailError('CREDENTIAL_FAILED', `The port of the credential "${name}" must be a number from 1 to 65535.`)
  const [user, password, auth, authority] = [text('user'), secrets['password'] ?? '', text('auth'), text('authority')]
  const server = { host, port, tls, ...(authority === '' ? {} : { authority }) }
  if (user === '' && auth === '') return server
  if (user === '')
    throw new MailError('CREDENTIAL_FAILED', `The credential "${name}" needs a user for its OAuth 2 credential.`)
  if (auth === '') return { ...server, user, password }
  const bearer = await bearerOf(auth, server, find)
  return {
    ...{ ...server, user },
    token: () => tokens.tokenOf(bearer),
    tokenRefused: (token) => tokens.refused(bearer, token),
  }
}

async function bearerOf(
  name: string,
  { host, port }: Pick<MailServer, 'host' | 'port'>,
  find: MailServerOptions['find'],
) {
  const credential = await find(name)
  if (!credential) throw new MailError('CREDENTIAL_FAILED', `The workspace has no credential "${name}" for the login.`)
  if (!needsToken(credential.kind))
    throw new MailError('CREDENTIAL_FAILED', `The credential "${name}" is not an OAuth 2 credential.`)
  const isCovered = [`https://${host}`, `https://${host}:${port}`].some((url) =>
    hostsCover(credential.hosts, new URL(url)),
  )
  if (isCovered) return credential
  const message = `The credential "${name}" may not be sent to ${host}. Add ${host} to its hosts if it should be.`
  throw new MailError('CREDENTIAL_HOST', message)
}

function tlsOf(text: string): MailTls {
  return text === 'starttls' || text === 'none' ? text : 'implicit'
}

const ports = {
  smtp: { implicit: 465, starttls: 587, none: 25 },
  imap: { implicit: 993, starttls: 143, none: 143 },
} as const

function textOf(value: unknown): string {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' ? value.trim() : ''
}
