import { assembleMailer } from '../../assembly/mailer.ts'
import type { Config } from '../../config.ts'
import { MailError } from '../../domain/mail/mail.ts'
import type { Diagnosis } from './diagnosis.ts'

/** Logs in at the operator's mail server. No check without one. */
export async function examineMail(config: Config): Promise<Diagnosis[]> {
  const mailer = assembleMailer(config)
  if (!mailer) return []
  const check = 'mail'
  try {
    await mailer.test()
    const message = 'The mail server of MILLRACE_SMTP_URL accepts the login.'
    return [{ check, state: 'ok', message }]
  } catch (error) {
    if (!(error instanceof MailError)) throw error
    const advice = 'Correct MILLRACE_SMTP_URL. Until then, the service sends no sign-in links and no alerts by e-mail.'
    return [{ check, state: 'broken', message: error.message, advice }]
  } finally {
    mailer.stop()
  }
}
