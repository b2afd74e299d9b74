import { Elysia } from 'elysia'
import { AppError } from '../../domain/errors.ts'
import type { Door } from '../access/door.ts'
import type { Services } from '../services.ts'
import { type HeldThing, peersPath } from './peers.ts'

/** Whether this process has something, for other processes of the installation: 204 or 404. */
export function peerRoutes({ peers }: Services, door: Door) {
  return new Elysia().get(
    `${peersPath}/:kind/:id`,
    async ({ request, set, params }) => {
      door.allowAnonymous(request, set)
      if (!peers.isFromPeer(request)) throw new AppError('NOT_FOUND', 'There is nothing at this address.')
      if (!(await peers.holds(params as HeldThing))) throw new AppError('NOT_FOUND', 'This process does not have it.')
      set.status = 204
    },
    { parse: 'none', detail: { hide: true } },
  )
}
