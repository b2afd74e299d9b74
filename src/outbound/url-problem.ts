import { OutboundError } from '../domain/outbound-request.ts'
import { type AllowList, isAllowed, kindOf, literalAddress, refusalOf } from './addresses.ts'
import { parseTarget } from './target.ts'

/**
 * The problem of a URL that will be called later, as a message for users; undefined when there is none. A name is not
 * looked up, because its addresses are checked at every call.
 */
export function urlProblem(text: string, allow: AllowList): string | undefined {
  try {
    const { host, port } = parseTarget(text)
    const address = literalAddress(host)
    if (address === undefined || isAllowed(allow, host, port, address)) return undefined
    return refusalOf(host, port, kindOf(address), 'would not be')
  } catch (error) {
    if (error instanceof OutboundError) return error.message
    throw error
  }
}
