import type { Mail } from '../domain/mail/mail.ts'
import { mailAddressProblem, plainMailAddress } from '../domain/mail/mail-address.ts'
import type { MailServer } from './mail-server.ts'

export type ServiceMailSettings = { smtpUrl?: string | undefined; smtpFrom?: string | undefined }

export type ReadServiceMail =
  | { ok: true; mail: { server: MailServer; from: Mail['from'] } | undefined }
  | { ok: false; message: string }

/**
 * The operator's mail server and the sender of the service's e-mails; undefined when none is set. `smtps://` is
 * encrypted from the start, `smtp://` by STARTTLS or, with `?tls=none`, not at all. No message contains the password.
 */
export function readServiceMail({ smtpUrl, smtpFrom }: ServiceMailSettings): ReadServiceMail {
  if (smtpUrl === undefined) return { ok: true, mail: undefined }
  const url = URL.parse(smtpUrl)
  const isSecure = url?.protocol === 'smtps:'
  const option = url?.searchParams.get('tls') ?? undefined
  const host = url?.hostname.replace(/^\[(.*)\]$/, '$1') ?? ''
  if (!url || !(isSecure || url.protocol === 'smtp:') || host === '' || !['', '/'].includes(url.pathname))
    return wrong('MILLRACE_SMTP_URL must be smtps://USER:PASSWORD@HOST:PORT, or smtp:// for STARTTLS.')
  if (option !== undefined && (option !== 'none' || isSecure))
    return wrong('MILLRACE_SMTP_URL: the only option is ?tls=none, with smtp://.')
  const tls = isSecure ? 'implicit' : option === 'none' ? 'none' : 'starttls'
  const user = decoded(url.username)
  const password = decoded(url.password)
  if (user === undefined || password === undefined)
    return wrong('MILLRACE_SMTP_URL: write % and other special characters of the user and password as %25 and so on.')
  const from = addressOf(smtpFrom ?? user)
  if (!from) {
    const reason = smtpFrom === undefined ? 'is needed, because the user is not an e-mail address' : 'is not valid'
    return wrong(`MILLRACE_SMTP_FROM ${reason}. Write an address, such as Millrace <millrace@example.com>.`)
  }
  const port = url.port === '' ? { implicit: 465, starttls: 587, none: 25 }[tls] : Number(url.port)
  return { ok: true, mail: { server: { host, port, tls, ...(user === '' ? {} : { user, password }) }, from } }
}

function wrong(message: string): ReadServiceMail {
  return { ok: false, message }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** `ada@example.com`, or `Ada <ada@example.com>`. */
function addressOf(text: string): Mail['from'] | undefined {
  const [, name = '', address = ''] = /^\s*(?:"?([^"<>]*?)"?\s*<([^<>]+)>)\s*$/.exec(text) ?? [text, '', text.trim()]
  const isValid = mailAddressProblem(address) === undefined && !/\p{Cc}/u.test(name)
  return isValid ? { name, address: plainMailAddress(address) } : undefined
}
