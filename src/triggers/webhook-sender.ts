import { timingSafeEqual } from 'node:crypto'
import { AppError } from '../domain/errors.ts'
import type { WebhookAuthentication } from '../domain/inbound-webhook.ts'
import { parseTemplate } from '../domain/reference.ts'
import { headerTexts } from './header-texts.ts'
import { type SignedRequest, signatureProblem } from './signatures.ts'

/** How a sender has to prove who it is, read once for each version. */
export type SenderCheck = {
  /** Whether it names environment variables. */
  needsEnvironment: boolean
  /** The header that carries what only the sender may know; workflows do not get to see it. */
  secretHeader: string | undefined
  /**
   * Throws `INVALID_API_KEY` or `INVALID_SIGNATURE`, and `VariableMissing` when a variable that it names is not there.
   * `values`: of the environment.
   */
  check(request: SignedRequest, values: ReadonlyMap<string, string>, now: number): void
}

/** A secret names a variable that the workspace does not have: nobody can prove anything until it is set. */
export class VariableMissing extends Error {
  readonly variable: string
  constructor(variable: string) {
    super(`The environment variable {{${variable}}} is not set in this workspace.`)
    this.variable = variable
  }
}

export function senderCheckOf(authentication: WebhookAuthentication): SenderCheck {
  const { type, token = '', name = '', value = '', scheme = 'github', secret = '' } = authentication
  switch (type) {
    case 'none':
      return checkOf('', undefined, () => undefined)
    case 'bearer':
      return checkOf(token, 'authorization', ({ headers }, expected) => {
        const given = /^Bearer +(\S+) *$/i.exec(headers.get('authorization') ?? '')?.[1]
        if (given === undefined || !isSameText(given, expected)) throw notAllowed('Authorization: Bearer …')
      })
    case 'header':
      return checkOf(value, name.toLowerCase(), ({ headers }, expected) => {
        const given = headers.get(name)
        const texts = given === null ? [] : headerTexts(given)
        if (!texts.some((text) => isSameText(text, expected))) throw notAllowed(name)
      })
    case 'signature':
      return checkOf(secret, undefined, (request, expected, now) => {
        const problem = signatureProblem(scheme, expected, request, now)
        if (problem !== undefined) throw new AppError('INVALID_SIGNATURE', problem)
      })
  }
}

type Check = (request: SignedRequest, expected: string, now: number) => void

/** `secret`: a text in which `{{NAME}}` is a variable, and nothing else means anything. */
function checkOf(secret: string, secretHeader: string | undefined, check: Check): SenderCheck {
  const segments = parseTemplate(secret)
  const fill = (values: ReadonlyMap<string, string>) => {
    const texts = segments.map((segment) => {
      if (segment.kind !== 'environment') return segment.kind === 'text' ? segment.text : segment.source
      const value = values.get(segment.name)
      if (value === undefined) throw new VariableMissing(segment.name)
      return value
    })
    return texts.join('')
  }
  return {
    needsEnvironment: segments.some(({ kind }) => kind === 'environment'),
    secretHeader,
    check: (request, values, now) => check(request, fill(values), now),
  }
}

function notAllowed(header: string): AppError {
  return new AppError('INVALID_API_KEY', `The header "${header}" is missing, or not what is expected.`)
}

/** In constant time: digests have one length, whatever the texts have. An empty secret matches nothing. */
function isSameText(given: string, expected: string): boolean {
  const digest = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest()
  return expected !== '' && timingSafeEqual(digest(given), digest(expected))
}
