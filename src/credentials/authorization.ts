import type { Clock } from '../domain/clock.ts'
import { hostsCover } from '../domain/credential/hosts.ts'
import { needsToken, refreshStatusesOf } from '../domain/credential/kinds.ts'
import type { OpenCredential } from '../domain/credential/open-credential.ts'
import { OutboundError, type RequestAuthorization } from '../domain/outbound-request.ts'
import { presignForAws, signForAws } from './aws-signature.ts'
import { type DigestChallenge, digestAuthorization, digestChallengeOf } from './digest.ts'

/** Tokens that a server issues. */
export type TokenSource = {
  /** A token that is valid now. Throws `OutboundError` with `CREDENTIAL_FAILED`. */
  tokenOf(credential: OpenCredential): Promise<string>
  /** Called when a service has refused a token. Whether there is another one now. */
  refused(credential: OpenCredential, token: string): Promise<boolean>
}

export type AuthorizationOptions = {
  tokens: TokenSource
  clock: Pick<Clock, 'now'>
  /** Called with the status of each response. */
  used(credential: OpenCredential, status: number): void
}

/** How requests are authenticated with a credential: one object for one request and its repetitions. */
export function authorizationOf(credential: OpenCredential, options: AuthorizationOptions): RequestAuthorization {
  const { name, hosts, fields, kind, secrets } = credential
  const authority = textOf(fields['authority'])
  const certificate = kind === 'client_certificate' ? certificateOf(fields, secrets) : {}
  const tls = { ...certificate, ...(authority === '' ? {} : { ca: authority }) }
  return {
    name,
    fields,
    covers: (url) => hostsCover(hosts, url),
    responded: (status) => options.used(credential, status),
    ...(Object.keys(tls).length > 0 ? { tls } : {}),
    ...authorizerOf(credential, options),
  }
}

type Authorizer = Pick<RequestAuthorization, 'authorize' | 'repeatsAfter' | 'presign'>

function authorizerOf(credential: OpenCredential, { tokens, clock }: AuthorizationOptions): Authorizer {
  const { kind, fields, secrets } = credential
  const text = (name: string) => textOf(fields[name])
  const secret = (name: string) => secrets[name] ?? ''
  switch (kind) {
    case 'basic':
      return header('authorization', () => basicAuthorization(text('username'), secret('password')))
    case 'bearer':
      return header('authorization', () => `${textOf(fields['prefix'] ?? 'Bearer')} ${secret('token')}`.trim())
    case 'header':
      return header(text('name'), () => secret('value'))
    case 'query':
      return { authorize: ({ url }) => setQuery(url, text('name'), secret('value')) }
    case 'path':
      return { authorize: ({ url }) => fillPath(url, text('name'), secret('value')) }
    case 'digest':
      return digest(text('username'), secret('password'))
    case 'aws_sigv4': {
      const key = {
        ...{ accessKeyId: text('accessKeyId'), region: text('region'), service: text('service') },
        ...{ secretAccessKey: secret('secretAccessKey'), sessionToken: secrets['sessionToken'] },
      }
      return {
        authorize: (request) => signForAws(request, key, clock.now()),
        presign(url, expiresS) {
          if (hostsCover(credential.hosts, url)) return presignForAws(url, key, clock.now(), expiresS)
          const message = `The credential "${credential.name}" may not be used for ${url.host}: it is not one of its hosts.`
          throw new OutboundError('CREDENTIAL_HOST', message)
        },
      }
    }
    default:
      // A certificate is part of the connection.
      return needsToken(kind) ? issuedToken(credential, tokens) : { authorize: () => {} }
  }
}

function header(name: string, value: () => string): Authorizer {
  return {
    authorize({ headers }) {
      try {
        headers.set(name, value())
      } catch {
        throw failed('The header of the credential cannot be sent: its name or value has characters that HTTP refuses.')
      }
    },
  }
}

export function basicAuthorization(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}

/** Replaces a parameter of the same name, and leaves the other ones as they are. */
function setQuery(url: URL, name: string, value: string): void {
  const isOther = (pair: string) => pair !== '' && nameIn(pair) !== name
  const others = url.search.slice(1).split('&').filter(isOther)
  url.search = [...others, `${encodeURIComponent(name)}=${encodeURIComponent(value)}`].join('&')
}

function nameIn(pair: string): string | undefined {
  return new URLSearchParams(pair).keys().next().value
}

function fillPath(url: URL, name: string, value: string): void {
  if (value === '' || value === '.' || value === '..') {
    throw failed(`The value for {${name}} would select another resource.`)
  }
  const filled = url.pathname.replace(/(?:\{|%7B)((?:(?!%7D)[^{}/])+)(?:\}|%7D)/gi, (placeholder, written: string) =>
    decoded(written) === name ? encodeURIComponent(value) : placeholder,
  )
  if (filled === url.pathname) throw failed(`The path of the URL has no {${name}} for the credential to fill in.`)
  url.pathname = filled
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The first request goes without; the response says how to authenticate. */
function digest(username: string, password: string): Authorizer {
  let challenge: DigestChallenge | undefined
  let count = 0
  return {
    authorize({ method, url, headers }) {
      if (!challenge) return
      count += 1
      const uri = url.pathname + url.search
      const clientNonce = crypto.randomUUID().replaceAll('-', '')
      const use = { challenge, username, password, method, uri, count, clientNonce }
      headers.set('authorization', digestAuthorization(use))
    },
    repeatsAfter({ status, headers }) {
      const offered = headers['www-authenticate']
      if (status !== 401 || offered === undefined) return false
      const next = digestChallengeOf([offered].flat().join(', '))
      // The same challenge again: the password is wrong.
      if (!next || next.nonce === challenge?.nonce) return false
      challenge = next
      count = 0
      return true
    },
  }
}

function issuedToken(credential: OpenCredential, tokens: TokenSource): Authorizer {
  let sent = ''
  const statuses = refreshStatusesOf(credential.fields)
  return {
    async authorize({ headers }) {
      sent = await tokens.tokenOf(credential)
      headers.set('authorization', `Bearer ${sent}`)
    },
    repeatsAfter: ({ status }) => statuses.includes(status) && tokens.refused(credential, sent),
  }
}

function certificateOf(fields: OpenCredential['fields'], secrets: OpenCredential['secrets']) {
  const { privateKey = '', passphrase } = secrets
  return { cert: textOf(fields['certificate']), key: privateKey, ...(passphrase ? { passphrase } : {}) }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function failed(message: string): OutboundError {
  return new OutboundError('CREDENTIAL_FAILED', message)
}
