import type { Config } from '../config.ts'
import { type AllowList, parseAllowList } from '../outbound/addresses.ts'
import { UsageError } from './command.ts'

/** The addresses that workflows may call although they are not public. Throws `UsageError` for an entry that is none. */
export function allowListOf(config: Config): AllowList {
  const outcome = parseAllowList(config.outboundAllow)
  if (!outcome.ok) throw new UsageError(outcome.message)
  return outcome.allow
}
