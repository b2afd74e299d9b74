import type { KeyRow } from '../../store/account-store.ts'
import type { Services } from '../services.ts'
import { authenticate } from './auth.ts'
import type { Door, ResponseSet } from './door.ts'

/**
 * Requires an API key in X-API-Key or as a bearer token. Returns its text, too. `metadata`: the address of the document
 * from which clients learn how to authenticate. A response without access names it.
 */
export async function requireKeyOrBearer(
  services: Pick<Services, 'lookUpKey'>,
  door: Door,
  { request, set }: { request: Request; set: ResponseSet },
  metadata: string,
): Promise<{ row: KeyRow; text: string }> {
  door.allowAnonymous(request, set)
  const bearer = /^Bearer +(.*)$/i.exec(request.headers.get('authorization') ?? '')?.[1]
  const text = request.headers.get('x-api-key') || bearer || ''
  set.headers['www-authenticate'] = `Bearer resource_metadata="${metadata}"`
  const row = await authenticate(services, new Headers({ 'x-api-key': text }))
  Reflect.deleteProperty(set.headers, 'www-authenticate')
  door.note(request, { keyId: row.id })
  return { row, text }
}
