import { mailAddressProblem } from '../../domain/mail/mail-address.ts'
import { testMail } from '../../domain/mail/service-mails.ts'
import { type Command, UsageError } from '../command.ts'
import { sendMail } from '../installation/send-mail.ts'

export const mail: Command = {
  summary: 'sends a test e-mail over the mail server of the service',
  details: 'The server is MILLRACE_SMTP_URL. `millrace doctor` logs in there without sending anything.',
  arguments: [{ name: 'ADDRESS', description: 'the recipient' }],
  settings: ['smtpUrl', 'smtpFrom'],
  examples: ['mail ada@example.com'],
  async run({ config, terminal, arguments: [address = ''] }) {
    const problem = mailAddressProblem(address)
    if (problem !== undefined) throw new UsageError(problem)
    await sendMail(config, testMail(address))
    terminal.say(`The mail server accepted a test message for ${address}.`)
    return 0
  },
}
