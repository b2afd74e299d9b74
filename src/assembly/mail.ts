import type { Environment } from '../domain/account/environment.ts'
import type { SendMail } from '../domain/mail/mail.ts'
import type { OpenMailbox } from '../domain/mail/mailbox.ts'
import { connectBy } from '../mail/connect.ts'
import { MailClient } from '../mail/mail-client.ts'
import { Bulkhead } from '../outbound/bulkhead.ts'
import type { Outbound } from '../outbound/fetch.ts'
import type { Base } from './base.ts'
import type { CredentialParts } from './credentials.ts'

/** E-mail of workflows, over the servers of their credentials. */
export type MailParts = ReturnType<typeof assembleMail>

type MailboxAccess = { workspaceId: string; credential: string; mailbox: string }

type Options = Pick<Base, 'config' | 'clock'> & {
  credentials: CredentialParts
  outbound: Pick<Outbound, 'resolveTcp'>
  environmentOf(workspaceId: string): Environment | Promise<Environment>
}

export function assembleMail({ config, clock, credentials, outbound, environmentOf }: Options) {
  const { find, tokens, used } = credentials
  const { shareFactor, outboundConcurrency: total } = config
  const slots = new Bulkhead({ total, perOrigin: perServerMax, waiting: waitingMax, shareFactor })
  const client = new MailClient({
    ...{ connect: connectBy(outbound.resolveTcp), tokens, clock, used },
    acquire: (route, signal) => slots.acquire(route, signal),
  })
  const accessOf = (workspaceId: string, { values }: Environment) => ({
    workspaceId,
    find: (name: string) => find(workspaceId, name, values),
  })
  const sendMail: SendMail<{ workspaceId: string; environment: Environment }> = (
    { workspaceId, environment },
    ...mail
  ) => client.send(accessOf(workspaceId, environment), ...mail)
  return {
    sendMail,
    /** Logs in at the server of a credential, if it describes one. Returns false for all other kinds. */
    async login(workspaceId: string, name: string, signal: AbortSignal): Promise<boolean> {
      const access = accessOf(workspaceId, await environmentOf(workspaceId))
      const found = await access.find(name)
      if (found?.kind !== 'smtp' && found?.kind !== 'imap') return false
      await client.test(found.kind, access, { credential: name, timeoutMs: testMs, signal })
      return true
    },
    /** Opens a mailbox for a trigger. Rejects with `MailError`. */
    async openMailbox({ workspaceId, credential, mailbox }: MailboxAccess, signal: AbortSignal): Promise<OpenMailbox> {
      const access = accessOf(workspaceId, await environmentOf(workspaceId))
      return await client.openMailbox(access, mailbox, { credential, timeoutMs: openMs, signal })
    },
    stop: () => client.stop(),
  }
}

/** Connections of a workspace to one server. Servers refuse clients with many. */
const perServerMax = 10
const waitingMax = 10_000
const testMs = 15_000
const openMs = 60_000
