import { type Clock, systemClock } from '../domain/clock.ts'
import { newId } from '../domain/ids.ts'
import type { Mailer } from '../domain/mail/mailer.ts'
import { connectBy } from '../mail/connect.ts'
import { ServiceMailer } from '../mail/service-mailer.ts'
import { readServiceMail, type ServiceMailSettings } from '../mail/smtp-url.ts'
import { parseAllowList } from '../outbound/addresses.ts'
import { tcpTargets } from '../outbound/tcp-target.ts'
import type { Logger } from '../telemetry/logger.ts'

/** E-mail of the service itself; undefined when the operator has set no mail server. */
export type MailerParts = Mailer & { test(): Promise<void>; stop(): void }

/** The operator chose the server, so the rules for addresses of workflows do not apply to it. */
export function assembleMailer(
  config: ServiceMailSettings,
  { logger, clock = systemClock }: { logger?: Logger; clock?: Clock } = {},
): MailerParts | undefined {
  const reading = readServiceMail(config)
  if (!reading.ok || !reading.mail) return undefined
  const { server, from } = reading.mail
  const allowed = parseAllowList([server.host.includes(':') ? `[${server.host}]` : server.host])
  if (!allowed.ok) throw new Error(allowed.message)
  return new ServiceMailer({
    ...{ server, from, clock, newKey: newId },
    connect: connectBy(tcpTargets({ allow: allowed.allow, clock })),
    onLost: ({ code, message }, attempts) =>
      logger?.warn('an e-mail of the service was given up', { code, reason: message, attempts }),
  })
}
