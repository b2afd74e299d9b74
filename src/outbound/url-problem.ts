import { OutboundError } from '../domain/outbound-request.ts'
import { type AllowList, isAllowed, kindOf, literalAddress, refusalOf } from './addresses.ts'
import { parseTarget } from './target.ts'

/**
 * What is wrong with a URL that is to be called later, for people; undefined when nothing is. A name is not looked up: what
 * address it has is judged whenever it is called.
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
