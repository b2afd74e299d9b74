import { Elysia } from 'elysia'
import type { Store } from '../../../store/store.ts'
import { addressOf } from '../../access/connection.ts'
import type { Door } from '../../access/door.ts'
import { assertAllowed } from '../../access/rate-headers.ts'
import type { InterfaceFiles } from '../../responses/interface-files.ts'
import type { Services } from '../../services.ts'
import { respondWithPage } from '../interface.ts'

/** `/form/<path>`: the same page for every form. The page gets its content from `/api/forms/<path>`. */
export function formPageRoutes(
  services: { interfaceFiles(): Promise<InterfaceFiles>; store: Pick<Store, 'findAddress'> } & Pick<
    Services,
    'limits' | 'clock'
  >,
  door: Door,
) {
  return new Elysia().get(
    '/form/:path',
    async ({ request, set, server, params: { path } }) => {
      door.allowAnonymous(request, set)
      const workflowId = await services.store.findAddress({ kind: 'form', name: path })
      if (workflowId === undefined) {
        // Wrong addresses count, as in the API of forms, so that nobody can guess addresses.
        const { limits, clock } = services
        assertAllowed(limits.takeRefused(addressOf(request, server)), clock.now())
        set.status = 404
      }
      return respondWithPage(services, request, set, '/form')
    },
    { detail: { hide: true } },
  )
}
