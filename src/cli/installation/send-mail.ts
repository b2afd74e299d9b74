import { assembleMailer } from '../../assembly/mailer.ts'
import type { Config } from '../../config.ts'
import { MailError } from '../../domain/mail/mail.ts'
import type { ServiceMail } from '../../domain/mail/mailer.ts'
import { CommandError, UsageError } from '../command.ts'
import { checkServiceMail } from './mail-settings.ts'

/** Throws `UsageError` when the operator has set no mail server. */
export function assertMailServer(config: Config): void {
  checkServiceMail(config)
  if (config.smtpUrl === undefined) throw new UsageError('MILLRACE_SMTP_URL names no mail server. Set it first.')
}

/** Sends a message over the operator's mail server. Throws `CommandError` with the reason when that fails. */
export async function sendMail(config: Config, mail: ServiceMail): Promise<void> {
  assertMailServer(config)
  const mailer = assembleMailer(config)
  try {
    const { rejected = [] } = (await mailer?.send(mail)) ?? {}
    if (rejected.length > 0) throw new CommandError(`The mail server refused ${rejected.join(', ')}.`)
  } catch (error) {
    if (error instanceof MailError) throw new CommandError(`The e-mail was not sent: ${error.message}`)
    throw error
  } finally {
    mailer?.stop()
  }
}
