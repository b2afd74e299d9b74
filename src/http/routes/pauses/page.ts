import { Elysia } from 'elysia'
import { addressOf } from '../../access/connection.ts'
import type { Door } from '../../access/door.ts'
import { assertAllowed } from '../../access/rate-headers.ts'
import type { InterfaceFiles } from '../../responses/interface-files.ts'
import type { PauseServices } from '../../run-services.ts'
import { respondWithPage } from '../interface.ts'

/** `/pause/<token>`: the same page for every pause. The page asks `/api/pauses/<token>` what to show. */
export function pausePageRoutes(
  services: { interfaceFiles(): Promise<InterfaceFiles> },
  { readToken, limits, clock }: PauseServices,
  door: Door,
) {
  return new Elysia().get(
    '/pause/:token',
    ({ request, set, server, params: { token } }) => {
      door.allowAnonymous(request, set)
      set.headers['referrer-policy'] = 'no-referrer'
      if (readToken(token) === undefined) {
        assertAllowed(limits.takeRefused(addressOf(request, server)), clock.now())
        set.status = 404
      }
      return respondWithPage(services, request, set, '/pause')
    },
    { detail: { hide: true } },
  )
}
