import type { Config } from '../../config.ts'
import { type AllowList, parseAllowList, parseNetworks } from '../../outbound/addresses.ts'
import { UsageError } from '../command.ts'

/** The non-public addresses that workflows may call. Throws `UsageError` for an invalid entry. */
export function allowListOf(config: Config): AllowList {
  const outcome = parseAllowList(config.outboundAllow)
  if (!outcome.ok) throw new UsageError(outcome.message)
  return outcome.allow
}

/** Whether an address is one of the operator's proxies; undefined when there are none. Throws for an invalid entry. */
export function proxiesOf(config: Config): ((address: string) => boolean) | undefined {
  if (config.trustedProxies.length === 0) return undefined
  const outcome = parseNetworks(config.trustedProxies, 'MILLRACE_TRUSTED_PROXIES')
  if (!outcome.ok) throw new UsageError(outcome.message)
  return outcome.has
}
