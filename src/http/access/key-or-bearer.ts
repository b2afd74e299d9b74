import { seemsAccessToken } from '../../accounts/oauth/tokens.ts'
import { AppError } from '../../domain/errors.ts'
import type { KeyRow } from '../../store/account-store.ts'
import type { Services } from '../services.ts'
import { authenticate } from './auth.ts'
import { addressOf, type ServerPort } from './connection.ts'
import type { Door, ResponseSet } from './door.ts'
import { assertAllowed } from './rate-headers.ts'

/** `apiKey`: returns a key that does the same in the API. */
export type CheckedKey = { row: KeyRow; apiKey(): string }

/**
 * Requires an API key in X-API-Key or as a bearer token, or a token of OAuth as a bearer token. `apiKey` returns a key
 * with which the API does the same for this process. `metadata`: the address of the document from which clients learn
 * how to authenticate. A response without access names it.
 */
export async function requireKeyOrBearer(
  services: Pick<Services, 'lookUpKey' | 'oauth' | 'limits' | 'clock'>,
  door: Door,
  { request, set, server }: { request: Request; set: ResponseSet; server: Pick<ServerPort, 'requestIP'> | null },
  metadata: string,
): Promise<CheckedKey> {
  door.allowAnonymous(request, set)
  const bearer = /^Bearer +(.*)$/i.exec(request.headers.get('authorization') ?? '')?.[1]
  const text = request.headers.get('x-api-key') || bearer || ''
  const problem = text === '' ? '' : 'error="invalid_token", '
  set.headers['www-authenticate'] = `Bearer ${problem}resource_metadata="${metadata}"`
  const checked = seemsAccessToken(text)
    ? await checkToken(services, text, addressOf(request, server))
    : { row: await authenticate(services, new Headers({ 'x-api-key': text })), apiKey: () => text }
  Reflect.deleteProperty(set.headers, 'www-authenticate')
  door.note(request, { keyId: checked.row.id })
  return checked
}

/** Limits guesses, because each look-up is a query. Other clients at the same address cannot lock a client out. */
async function checkToken(
  { oauth, limits, clock }: Pick<Services, 'oauth' | 'limits' | 'clock'>,
  token: string,
  address: string,
): Promise<CheckedKey> {
  if (!oauth.isGenuine(token)) assertAllowed(limits.peekRefused(address), clock.now(), 'refused requests')
  const row = await oauth.find(token)
  if (row) return { row, apiKey: () => oauth.ownKey(row.id) }
  limits.takeRefused(address)
  throw new AppError(
    'INVALID_API_KEY',
    'The access token does not exist, has expired or was revoked, or its account has left the workspace. Sign in again.',
  )
}
