import { messageOf } from '../domain/errors.ts'
import { MailError } from '../domain/mail/mail.ts'
import { OutboundError } from '../domain/outbound-request.ts'
import type { MailServer } from './mail-server.ts'

export type SmtpFailure = {
  server: MailServer
  step: 'the greeting' | 'the login' | 'the message'
  /** The server may have accepted the message, if it has not replied. */
  isUnsure: boolean
}

/** The error of a message that was not sent, from what the library, TLS or the deadline threw. */
export function smtpErrorOf(thrown: unknown, { server, step, isUnsure }: SmtpFailure): MailError {
  if (thrown instanceof MailError) return thrown
  const { host, port } = server
  const { code, originalCode, response, responseCode } = thrown as Partial<Record<string, unknown>>
  const status = typeof responseCode === 'number' ? responseCode : undefined
  const unsure = isUnsure && status === undefined
  const doubt = unsure ? ' The server may have accepted the message.' : ''
  const failed = (failureCode: string, message: string, isTemporary: boolean) =>
    new MailError(failureCode, message + doubt, { status, mayRepeat: isTemporary && !unsure, cause: thrown })
  if (thrown instanceof OutboundError) {
    const isTemporary = thrown.code === 'TIMEOUT' || thrown.code === 'CONNECTION_FAILED'
    return failed(thrown.code, thrown.message, isTemporary)
  }
  const isTemporary = status !== undefined && status >= 400 && status < 500
  const said = typeof response === 'string' ? `: ${shortened(response)}` : ''
  if (code === 'EAUTH') {
    const reason = said || (status === undefined ? `: ${messageOf(thrown)}` : '')
    return failed('LOGIN_FAILED', `The login at ${host} failed${reason}`, isTemporary)
  }
  if (status !== undefined) {
    const what = step === 'the message' ? 'refused the message' : 'refused the connection'
    return failed(step === 'the message' ? 'MESSAGE_REFUSED' : 'MAIL_ERROR', `${host} ${what}${said}`, isTemporary)
  }
  const reason = [originalCode, code].find((each) => typeof each === 'string' && isTlsCode(each))
  if (reason !== undefined)
    return failed('CONNECTION_FAILED', `The certificate of ${host} was not accepted: ${reason}.`, false)
  if (code === 'ETLS')
    return failed(
      'CONNECTION_FAILED',
      `The connection to ${host}:${port} could not be secured: ${messageOf(thrown)}.`,
      false,
    )
  if (code === 'EPROTOCOL')
    return failed('MAIL_ERROR', `${host}:${port} does not speak SMTP: ${messageOf(thrown)}.`, false)
  if (code === 'ESOCKET' || code === 'ECONNECTION' || code === 'ETIMEDOUT' || code === undefined)
    return failed('CONNECTION_FAILED', `${host}:${port} closed the connection during ${step}.`, true)
  return failed('MAIL_ERROR', `${messageOf(thrown)}.`, false)
}

function isTlsCode(code: string): boolean {
  return /CERT|SELF_SIGNED|UNABLE_TO|ALTNAME|SSL|CRL/.test(code)
}

/** A reply on one line. */
function shortened(reply: string): string {
  const line = reply.replaceAll(/\s+/g, ' ').trim()
  return line.length > replyCharsMax ? `${line.slice(0, replyCharsMax)}…` : line
}

const replyCharsMax = 500
