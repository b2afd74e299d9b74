import type { Services } from '../services.ts'
import { tokenOf } from './session-cookie.ts'

/**
 * A text that stands for the session of a request, and that no other browser can cause; undefined without a session.
 * Unlike `Door.requireSession`, this also serves a request that a page of another site has led to: such a request must
 * carry a proof of its own.
 */
export async function sessionMarkOf(
  { sessions }: Pick<Services, 'sessions'>,
  request: Request,
): Promise<string | undefined> {
  const token = tokenOf(request.headers)
  if (token !== undefined && (await sessions.find(token))) {
    return new Bun.CryptoHasher('sha256').update(token).digest('base64url')
  }
  return (await sessions.visitor()) ? 'visitor' : undefined
}
