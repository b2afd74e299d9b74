import * as oauth from 'oauth4webapi'
import type { OpenCredential } from '../../domain/credential/open-credential.ts'
import {
  assertSecure,
  authenticationOf,
  clientOf,
  type ProviderOptions,
  parametersOf,
  providerError,
  providerOf,
  refusalOf,
  transportOf,
} from './provider.ts'
import { issuedBy, type Token, tokenFrom } from './token.ts'

/** The page of the provider where a person signs in, and the secret that exchanges the code which that returns. */
export async function authorizationUrl(
  credential: OpenCredential,
  { redirectUri, state }: { redirectUri: string; state: (verifier: string) => string },
  options: ProviderOptions,
): Promise<string> {
  try {
    const { server } = await providerOf(credential, ['authorizationUrl', 'tokenUrl'], options)
    const verifier = oauth.generateRandomCodeVerifier()
    const url = new URL(server.authorization_endpoint!)
    // The person's browser opens it, so a script must not pass.
    assertSecure(url)
    for (const [name, value] of parametersOf(credential)) url.searchParams.set(name, value)
    const own = {
      response_type: 'code',
      client_id: clientOf(credential).client_id,
      redirect_uri: redirectUri,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state: state(verifier),
    }
    for (const [name, value] of Object.entries(own)) url.searchParams.set(name, value)
    return url.href
  } catch (error) {
    throw providerError(`Nobody can sign in with the credential "${credential.name}"`, error)
  }
}

/** Exchanges the code of a callback for a token. `state`: the one that the callback must have. */
export async function exchangeCode(
  credential: OpenCredential,
  {
    received,
    redirectUri,
    state,
    verifier,
  }: { received: URLSearchParams; redirectUri: string; state: string; verifier: string },
  options: ProviderOptions,
): Promise<Token> {
  try {
    const { server, isDescribed } = await providerOf(credential, ['tokenUrl'], options)
    const client = clientOf(credential)
    const answer = new URLSearchParams(received)
    // Without the metadata document, the service does not know the name of the issuer.
    if (!isDescribed) answer.delete('iss')
    const validated = oauth.validateAuthResponse(server, client, answer, state)
    const authentication = await authenticationOf(credential)
    const transport = transportOf(credential, options)
    const response = await oauth.authorizationCodeGrantRequest(
      ...([server, client, authentication, validated, redirectUri, verifier, transport] as const),
    )
    const result = await oauth.processAuthorizationCodeResponse(server, client, response)
    return tokenFrom(issuedBy(result), options.now)
  } catch (error) {
    throw providerError(`The sign-in of the credential "${credential.name}" failed`, error)
  }
}

export type DeviceSignIn = {
  userCode: string
  verificationUrl: string
  /** Epoch milliseconds. */
  expiresAt: number
  deviceCode: string
  intervalMs: number
}

export async function startDeviceSignIn(credential: OpenCredential, options: ProviderOptions): Promise<DeviceSignIn> {
  try {
    const { server } = await providerOf(credential, ['deviceUrl', 'tokenUrl'], options)
    const client = clientOf(credential)
    const authentication = await authenticationOf(credential)
    const transport = transportOf(credential, options)
    const response = await oauth.deviceAuthorizationRequest(
      ...([server, client, authentication, parametersOf(credential), transport] as const),
    )
    const started = await oauth.processDeviceAuthorizationResponse(server, client, response)
    return {
      userCode: started.user_code,
      verificationUrl: started.verification_uri_complete ?? started.verification_uri,
      expiresAt: options.now + started.expires_in * 1_000,
      deviceCode: started.device_code,
      intervalMs: Math.max(1, started.interval ?? 5) * 1_000,
    }
  } catch (error) {
    throw providerError(`Nobody can sign in with the credential "${credential.name}"`, error)
  }
}

/** Asks whether the person has signed in. `wait`: not yet. `slower`: not yet, and the server wants fewer questions. */
export async function askForDevice(
  credential: OpenCredential,
  deviceCode: string,
  options: ProviderOptions,
): Promise<Token | 'wait' | 'slower'> {
  try {
    const { server } = await providerOf(credential, ['tokenUrl'], options)
    const client = clientOf(credential)
    const authentication = await authenticationOf(credential)
    const transport = transportOf(credential, options)
    const response = await oauth.deviceCodeGrantRequest(
      ...([server, client, authentication, deviceCode, transport] as const),
    )
    const result = await oauth.processDeviceCodeResponse(server, client, response)
    return tokenFrom(issuedBy(result), options.now)
  } catch (error) {
    const refusal = refusalOf(error)
    if (refusal === 'authorization_pending') return 'wait'
    if (refusal === 'slow_down') return 'slower'
    throw providerError(`The sign-in of the credential "${credential.name}" failed`, error)
  }
}
