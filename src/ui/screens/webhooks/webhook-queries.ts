import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { call, type ResponseOf } from '../../api/call.ts'
import type { Tone } from '../../parts/badge.tsx'

export type Webhook = ResponseOf<'GET /api/editor/workflows/:id/webhooks'>['data'][number]
export type Delivery = ResponseOf<'GET /api/workflows/:id/deliveries'>['data'][number]
export type DeliveryDetail = ResponseOf<'GET /api/workflows/:id/deliveries/:deliveryId'>
export type DeliveryState = Delivery['state']
export type TestDelivery = ResponseOf<'POST /api/editor/workflows/:id/webhooks/:webhookId/test'>

export const states = ['pending', 'delivered', 'failed', 'cancelled'] as const satisfies readonly DeliveryState[]
export const stateTones: Readonly<Record<DeliveryState, Tone>> = {
  pending: 'accent',
  delivered: 'ok',
  failed: 'error',
  cancelled: 'plain',
}

export function webhooksQuery(id: string) {
  return queryOptions({
    queryKey: ['webhooks', id],
    queryFn: async ({ signal }) =>
      (await call('GET /api/editor/workflows/:id/webhooks', { params: { id }, signal })).data,
  })
}

/** Newest first. Refetched while visible, because attempts continue. */
export function deliveriesQuery(id: string, state: DeliveryState | undefined) {
  return infiniteQueryOptions({
    queryKey: ['deliveries', id, state ?? 'all'],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      call('GET /api/workflows/:id/deliveries', {
        params: { id },
        query: { limit: 100, ...(state && { state }), ...(pageParam !== null && { cursor: pageParam }) },
        signal,
      }),
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: ({ state: { data } }) => ((data?.pages.length ?? 0) > 2 ? false : 4_000),
  })
}

export function deliveryQuery(id: string, deliveryId: string) {
  return queryOptions({
    queryKey: ['delivery', id, deliveryId],
    queryFn: ({ signal }) =>
      call('GET /api/workflows/:id/deliveries/:deliveryId', { params: { id, deliveryId }, signal }),
    refetchInterval: ({ state: { data } }) => (data?.state === 'pending' ? 2_000 : false),
  })
}
