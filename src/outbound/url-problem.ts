import { OutboundError } from '../domain/outbound-request.ts'
import { type AllowList, isAllowed, kindOf, literalAddress, refusalOf } from './addresses.ts'
import { parseTarget } from './target.ts'

/**
 * Checks a URL that will be called later. Returns a message for users, or undefined if the URL may be called. A host
 * name is not looked up here: its addresses are checked at every call.
 */
export function urlProblem(text: string, allow: AllowList): string | undefined {
  try {
    const { host, port } = parseTarget(text)
    const address = literalAddress(host)
    if (address === undefined || isAllowed(allow, host, port, address)) return undefined
    return refusalOf(host, port, kindOf(address))
  } catch (error) {
    if (error instanceof OutboundError) return error.message
    throw error
  }
}
