import { OutboundError } from '../domain/outbound-request.ts'
import { type AllowList, isAllowed, kindOf, refusalOf } from './addresses.ts'
import type { Target } from './target.ts'

/** The addresses of a target that may be called. Throws `ADDRESS_REFUSED` when there are none. */
export function allowedAddresses(
  allow: AllowList,
  { host, port }: Pick<Target, 'host' | 'port'>,
  addresses: readonly string[],
): string[] {
  const allowed = addresses.filter((address) => isAllowed(allow, host, port, address))
  if (allowed.length > 0) return allowed
  throw new OutboundError('ADDRESS_REFUSED', refusalOf(host, port, kindOf(addresses[0]!)))
}
