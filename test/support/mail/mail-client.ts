import { systemClock } from '../../../src/domain/clock.ts'
import type { OpenCredential } from '../../../src/domain/credential/open-credential.ts'
import type { Mail } from '../../../src/domain/mail/mail.ts'
import { connectBy } from '../../../src/mail/connect.ts'
import { MailClient, type MailClientOptions } from '../../../src/mail/mail-client.ts'
import { tcpTargets } from '../../../src/outbound/tcp-target.ts'
import { allowList } from '../outbound/peers.ts'
import { authority } from './smtp-peer.ts'

/** A credential for a server on loopback whose certificate the test authority signed. */
export function mailCredential(
  fields: Record<string, unknown>,
  { kind = 'smtp', ...more }: Partial<OpenCredential> = {},
): OpenCredential {
  return {
    ...{ id: `id-of-${kind}`, workspaceId: 's1', name: 'mail', kind, hosts: [], state: 'untested', problem: null },
    ...{ updatedAt: 0, tokenVersion: 0, secrets: { password: 'open sesame' } },
    fields: { host: '127.0.0.1', user: 'ada', authority, ...fields },
    ...more,
  }
}

/** A client that may connect to loopback. */
export function mailClientOf(options: Partial<MailClientOptions> = {}): MailClient {
  return new MailClient({
    connect: connectBy(tcpTargets({ allow: allowList(['loopback']) })),
    acquire: async () => ({ release: () => undefined }),
    tokens: { tokenOf: () => Promise.reject(new Error('No tokens here')), refused: async () => false },
    clock: systemClock,
    used: () => undefined,
    ...options,
  })
}

/** The credentials of one workspace. */
export function credentialsOf(...credentials: OpenCredential[]) {
  const byName = new Map(credentials.map((each) => [each.name, each]))
  return { workspaceId: 's1', find: async (name: string) => byName.get(name) }
}

export function makeMail(over: Partial<Mail> = {}): Mail {
  const to = [{ name: '', address: 'bob@example.com' }]
  return {
    ...{ from: { name: 'Ada', address: 'ada@example.com' }, to, cc: [], bcc: [], replyTo: [], attachments: [] },
    ...{ subject: 'Hello', text: 'Hello Bob', messageId: '<1@example.com>' },
    ...over,
  }
}
