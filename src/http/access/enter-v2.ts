import type { KeyRow } from '../../store/account-store.ts'
import { privateNoStore } from '../responses/v2/envelope.ts'
import type { ServerPort } from './connection.ts'
import type { Door, ResponseSet } from './door.ts'

/** Requires a key and counts the request. Every route of `/api/v2` must call it first. */
export async function enterV2(
  door: Door,
  { request, set, server }: { request: Request; set: ResponseSet; server: Pick<ServerPort, 'requestIP'> | null },
): Promise<KeyRow> {
  set.headers['cache-control'] = privateNoStore
  return await door.requireApiKey(request, set, server)
}
