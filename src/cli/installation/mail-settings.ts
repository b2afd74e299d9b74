import type { Config } from '../../config.ts'
import { readServiceMail } from '../../mail/smtp-url.ts'
import { UsageError } from '../command.ts'

/** Throws `UsageError` when the settings of the operator's mail server cannot be used. */
export function checkServiceMail(config: Config): void {
  const reading = readServiceMail(config)
  if (!reading.ok) throw new UsageError(reading.message)
}
