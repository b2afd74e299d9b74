import type { OAuthExchange, OAuthExchanged } from './oauth-store.ts'

/** The facts about a grant that decide about an exchange. */
export type ExchangedGrant = {
  id: string
  clientId: string
  isMember: boolean
  redirectUri: string
  resource: string
  challenge: string | null
  current: Uint8Array
  previous: Uint8Array | null
  rotatedAt: number | null
  access: Uint8Array | null
  accessExpiresAt: number
  expiresAt: number
}

/** `replace`: write the next tokens. `end`: delete the grant. `keep`: change nothing. */
export type ExchangeDecision = { write: 'replace' | 'end' | 'keep'; result: OAuthExchanged }

/** Decides about an exchange, for every store in the same way. */
export function decideExchange(grant: ExchangedGrant | undefined, exchange: OAuthExchange): ExchangeDecision {
  const { presented, clientId, resource, code, next, at } = exchange
  if (!grant || grant.clientId !== clientId) return { write: 'keep', result: { outcome: 'unknown' } }
  if (grant.expiresAt <= at || !grant.isMember) return { write: 'end', result: { outcome: 'unknown' } }
  const isCurrent = isSame(grant.current, presented)
  if (code && grant.challenge !== null) {
    if (!isCurrent) return { write: 'keep', result: { outcome: 'unknown' } }
    const isRequest = code.redirectUri === grant.redirectUri && code.challenge === grant.challenge
    if (!isRequest) return { write: 'end', result: { outcome: 'refused' } }
  } else if (code || !isCurrent) {
    if (grant.challenge !== null) return { write: 'keep', result: { outcome: 'unknown' } }
    return isRepeat(grant, exchange)
      ? { write: 'keep', result: { outcome: 'given', accessExpiresAt: grant.accessExpiresAt } }
      : { write: 'end', result: { outcome: 'reused' } }
  } else if (grant.challenge !== null) {
    return { write: 'keep', result: { outcome: 'unknown' } }
  }
  if (resource !== undefined && resource !== grant.resource) return { write: 'keep', result: { outcome: 'elsewhere' } }
  return { write: 'replace', result: { outcome: 'given', accessExpiresAt: next.accessExpiresAt } }
}

/** Whether a client sends a refresh token twice at about the same time, as clients with several requests do. */
function isRepeat(grant: ExchangedGrant, { presented, code, next, repeatableAfter }: OAuthExchange): boolean {
  const { previous, rotatedAt, current, access } = grant
  if (code || previous === null || rotatedAt === null || access === null) return false
  return (
    rotatedAt > repeatableAfter &&
    isSame(previous, presented) &&
    isSame(current, next.current) &&
    isSame(access, next.access)
  )
}

/** Compares hashes, which reveal nothing by the duration of the comparison. */
function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0
}
