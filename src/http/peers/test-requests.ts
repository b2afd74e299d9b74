import type { AccountLimits } from '../../accounts/limits.ts'
import { addressOf } from '../access/connection.ts'
import { assertAllowed } from '../access/rate-headers.ts'
import type { Services } from '../services.ts'
import type { PeerCall, Peers } from './peers.ts'

type Parts = Pick<Services, 'listeners' | 'clock'> & { peers: Peers; limits: Pick<AccountLimits, 'peekRefused'> }

/** Passes a request to a test address on to the process where somebody listens. Undefined when no other one has it. */
export async function forwardTestRequest(
  { peers, listeners, limits, clock }: Parts,
  call: PeerCall,
  token: string,
): Promise<Response | undefined> {
  if (listeners.find(token) || !peers.exist || peers.isFromPeer(call.request)) return undefined
  // A client that guesses addresses must not keep all processes busy.
  assertAllowed(limits.peekRefused(addressOf(call.request, call.server)), clock.now())
  return await peers.forward(call, { kind: 'listener', id: token })
}
