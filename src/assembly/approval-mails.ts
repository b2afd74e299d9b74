import { messageOf } from '../domain/errors.ts'
import type { Mailer } from '../domain/mail/mailer.ts'
import { approvalMail } from '../domain/mail/service-mails.ts'
import { redactText } from '../domain/redaction/redactor.ts'
import type { NewPause, PauseContent, PauseLinks } from '../domain/run/pause.ts'
import type { Accounts } from './accounts.ts'
import type { Base } from './base.ts'

type Options = Pick<Base, 'store' | 'logger'> & {
  mailer: Mailer | undefined
  accounts: Pick<Accounts, 'jobSeal' | 'environments'>
  linksOf(contextId: string): PauseLinks
}

/**
 * Tells the accounts that an approval names, by e-mail. Only members of the workspace get one, so that nobody can use
 * the operator's mail server to write to strangers. An approval with a link, or for all members, has no addresses.
 */
export function approvalMailsOf({ mailer, accounts, store, linksOf, logger }: Options) {
  const announce = async (run: { executionId: string; workspaceId: string }, pauses: readonly NewPause[]) => {
    for (const { kind, content, contextId, isOpened } of pauses) {
      if (kind !== 'approval' || !content || isOpened) continue
      const asked = JSON.parse(accounts.jobSeal.open(content, run.executionId)) as PauseContent
      if (asked.access !== 'accounts') continue
      const [members, { redactor }] = await Promise.all([
        store.listMembers(run.workspaceId),
        accounts.environments.of(run.workspaceId),
      ])
      const [title, message] = [redactText(asked.title, redactor), redactText(asked.message, redactor)]
      const { url } = linksOf(contextId)
      for (const { email } of members) {
        if (!asked.accounts.includes(email.toLowerCase())) continue
        // The ID of the pause must not be in the header of a message.
        const key = new Bun.CryptoHasher('sha256').update(`${contextId} ${email}`).digest('hex').slice(0, 32)
        mailer?.post({ ...approvalMail({ to: email, title, message, url }), key }, run.workspaceId)
      }
    }
  }
  return (run: { executionId: string; workspaceId: string }, pauses: readonly NewPause[]): void => {
    if (!mailer) return
    announce(run, pauses).catch((cause: unknown) =>
      logger.warn('people could not be told about an approval', { reason: messageOf(cause) }),
    )
  }
}
