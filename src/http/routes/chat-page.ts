import { Elysia } from 'elysia'
import type { Store } from '../../store/store.ts'
import type { Door } from '../access/door.ts'
import type { InterfaceFiles } from '../responses/interface-files.ts'
import { respondWithPage } from './interface.ts'

/** `/chat/<identifier>`: the same page for every chat. The page asks `/api/chat/<identifier>` what to show. */
export function chatPageRoutes(
  services: { interfaceFiles(): Promise<InterfaceFiles>; store: Pick<Store, 'findAddress'> },
  door: Door,
) {
  return new Elysia().get(
    '/chat/:identifier',
    async ({ request, set, params: { identifier } }) => {
      door.allowAnonymous(request, set)
      const workflowId = await services.store.findAddress({ kind: 'chat', name: identifier })
      if (workflowId === undefined) set.status = 404
      return respondWithPage(services, request, set, '/chat')
    },
    { detail: { hide: true } },
  )
}
