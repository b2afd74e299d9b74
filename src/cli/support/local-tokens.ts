import type { TokenSource } from '../../credentials/authorization.ts'
import { requestToken } from '../../credentials/oauth/token-request.ts'
import type { OpenCredential } from '../../domain/credential/open-credential.ts'
import type { OutboundFetch } from '../../domain/outbound-request.ts'

/** The tokens of a run from a file: kept until it ends. */
export function localTokens(fetch: OutboundFetch): TokenSource {
  const tokens = new Map<string, Promise<string>>()
  const ask = async (credential: OpenCredential) => {
    const options = { fetch, now: Date.now(), signal: new AbortController().signal }
    return (await requestToken(credential, options)).accessToken
  }
  const tokenOf = (credential: OpenCredential) => {
    const token = tokens.get(credential.id) ?? ask(credential)
    tokens.set(credential.id, token)
    return token
  }
  return {
    tokenOf,
    async refused(credential, token) {
      if ((await tokens.get(credential.id)) === token) tokens.delete(credential.id)
      return (await tokenOf(credential)) !== token
    },
  }
}
