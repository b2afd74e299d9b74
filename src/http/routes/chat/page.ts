import { Elysia } from 'elysia'
import type { Store } from '../../../store/store.ts'
import { addressOf } from '../../access/connection.ts'
import type { Door } from '../../access/door.ts'
import { assertAllowed } from '../../access/rate-headers.ts'
import type { InterfaceFiles } from '../../responses/interface-files.ts'
import type { Services } from '../../services.ts'
import { respondWithPage } from '../interface.ts'

/** `/chat/<identifier>`: the same page for every chat. The page asks `/api/chat/<identifier>` what to show. */
export function chatPageRoutes(
  services: { interfaceFiles(): Promise<InterfaceFiles>; store: Pick<Store, 'findAddress'> } & Pick<
    Services,
    'limits' | 'clock'
  >,
  door: Door,
) {
  return new Elysia().get(
    '/chat/:identifier',
    async ({ request, set, server, params: { identifier } }) => {
      door.allowAnonymous(request, set)
      const workflowId = await services.store.findAddress({ kind: 'chat', name: identifier })
      if (workflowId === undefined) {
        // Limits attempts to guess addresses, like the chat's own route.
        const { limits, clock } = services
        assertAllowed(limits.takeRefused(addressOf(request, server)), clock.now())
        set.status = 404
      }
      return respondWithPage(services, request, set, '/chat')
    },
    { detail: { hide: true } },
  )
}
