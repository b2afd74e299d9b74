import type { EmailTriggerParameters } from '../../blocks/email-trigger.ts'
import { messageOf } from '../../domain/errors.ts'
import { newExecutionId } from '../../domain/ids.ts'
import { redactText } from '../../domain/redaction/redactor.ts'
import type { OpenFiles } from '../../files/open.ts'
import { Mailboxes } from '../../triggers/mailboxes/mailboxes.ts'
import type { Accounts } from '../accounts.ts'
import type { Base } from '../base.ts'
import type { Engine } from '../engine.ts'

type Options = Pick<Base, 'store' | 'clock' | 'logger' | 'cluster'> & {
  accounts: Accounts
  engine: Engine
  files: OpenFiles
}

/** The mailboxes that triggers watch. */
export function assembleMailboxes({ accounts, engine, files, ...base }: Options) {
  const { store, clock, logger, cluster } = base
  const { limits, environments } = accounts
  return new Mailboxes({
    ...{ store, clock, random: Math.random, newExecutionId, limits, connectionsMax, perWorkspaceMax },
    async sourceOf({ workflowId, version, blockId }) {
      const { plan } = (await engine.deployments.loadVersion(workflowId, version)) ?? {}
      const trigger = plan?.triggers.get('email')
      if (trigger?.node.id !== blockId) return undefined
      const { credential, mailbox, from, subject, markSeen, attachments } = trigger.params as EmailTriggerParameters
      return { credential, mailbox, markSeen, attachments, ...(from ? { from } : {}), ...(subject ? { subject } : {}) }
    },
    open: engine.mail.openMailbox,
    accept: (starts) => engine.jobs.acceptPolled(starts),
    storeFile: (owner, { content, name, type }) => files.power.store(owner, content, { name, type }),
    removeFiles: (owner) => files.remove(owner),
    redact: async (workspaceId, text) => redactText(text, (await environments.of(workspaceId)).redactor),
    onTrouble: (cause) => logger.error('mailboxes cannot be watched', { reason: messageOf(cause) }),
    isLeader: () => cluster.isLeader,
  })
}

/** Each takes a connection and, with TLS, about 100 KB. */
const connectionsMax = 500
const perWorkspaceMax = 50
