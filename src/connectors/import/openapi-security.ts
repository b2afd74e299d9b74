import type { CredentialOffer } from '../../domain/connector/connector.ts'
import { isObject } from '../../domain/run/input.ts'
import type { Leftovers } from './imported.ts'

/** The kinds of credentials that fit the security schemes of an OpenAPI document. */
export function credentialOffers(
  document: Record<string, unknown>,
  baseUrl: string,
  leftovers: Leftovers,
): CredentialOffer[] {
  const components = isObject(document['components']) ? document['components'] : {}
  const schemes = document['securityDefinitions'] ?? components['securitySchemes']
  const host = URL.parse(baseUrl)?.host
  const hosts = host === undefined ? {} : { hosts: [host] }
  const offers = Object.entries(isObject(schemes) ? schemes : {}).flatMap(([name, scheme]) => {
    const offer = isObject(scheme) ? offerOf(scheme) : undefined
    if (offer) return [{ ...offer, label: name.slice(0, 200), ...hosts }]
    leftovers.add(`securitySchemes.${name}`, 'There is no kind of credential for this scheme.')
    return []
  })
  return offers.slice(0, 20)
}

function offerOf(scheme: Record<string, unknown>): CredentialOffer | undefined {
  const { type, scheme: name, in: place, name: parameter } = scheme
  const lower = typeof name === 'string' ? name.toLowerCase() : ''
  switch (type) {
    case 'basic':
      return { kind: 'basic' }
    case 'http':
      if (lower === 'bearer') return { kind: 'bearer' }
      return lower === 'basic' || lower === 'digest' ? { kind: lower } : undefined
    case 'apiKey':
      if ((place !== 'header' && place !== 'query') || typeof parameter !== 'string') return undefined
      return { kind: place, fields: { name: parameter } }
    case 'oauth2':
      return oauthOffer(scheme)
    case 'openIdConnect': {
      const url = textOf(scheme['openIdConnectUrl'])
      const issuer = url?.replace(/\/\.well-known\/openid-configuration$/, '')
      return issuer === undefined ? undefined : { kind: 'oauth2_authorization_code', fields: { issuer } }
    }
    case 'mutualTLS':
      return { kind: 'client_certificate' }
    default:
      return undefined
  }
}

function oauthOffer(scheme: Record<string, unknown>): CredentialOffer | undefined {
  const flows = isObject(scheme['flows']) ? scheme['flows'] : {}
  const code = flows['authorizationCode'] ?? (scheme['flow'] === 'accessCode' ? scheme : undefined)
  if (isObject(code)) {
    const urls = { authorizationUrl: textOf(code['authorizationUrl']), tokenUrl: textOf(code['tokenUrl']) }
    return { kind: 'oauth2_authorization_code', fields: { ...present(urls), ...scopeOf(code) } }
  }
  const client = flows['clientCredentials'] ?? (scheme['flow'] === 'application' ? scheme : undefined)
  if (!isObject(client)) return { kind: 'bearer' }
  return {
    kind: 'oauth2_client_credentials',
    fields: { ...present({ tokenUrl: textOf(client['tokenUrl']) }), ...scopeOf(client) },
  }
}

function scopeOf({ scopes }: Record<string, unknown>): { scope?: string } {
  const names = Object.keys(isObject(scopes) ? scopes : {})
  return names.length === 0 ? {} : { scope: names.slice(0, 50).join(' ') }
}

function present(members: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(members).filter((pair): pair is [string, string] => pair[1] !== undefined))
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
