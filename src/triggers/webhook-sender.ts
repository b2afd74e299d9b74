import { timingSafeEqual } from 'node:crypto'
import { AppError } from '../domain/errors.ts'
import type { WebhookAuthentication } from '../domain/webhook/webhook-trigger.ts'
import { parseTemplate } from '../domain/workflow/reference.ts'
import { headerTexts } from './header-texts.ts'
import { type SignedRequest, signatureProblem } from './signatures.ts'

/** The authentication of a sender, parsed once per version. */
export type SenderCheck = {
  /** Whether it refers to environment variables. */
  needsEnvironment: boolean
  /** The header with the secret. It is hidden from workflows. */
  secretHeader: string | undefined
  /**
   * Throws `INVALID_API_KEY` or `INVALID_SIGNATURE`, and `VariableMissing` when a referenced variable is not set.
   * `values`: the environment variables.
   */
  check(request: SignedRequest, values: ReadonlyMap<string, string>, now: number): void
}

/** A secret refers to a variable that is not set. No sender can be verified until it is. */
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
      return { needsEnvironment: false, secretHeader: undefined, check: () => undefined }
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

/** `secret`: text in which `{{NAME}}` is a variable and nothing else has a meaning. */
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
  return new AppError('INVALID_API_KEY', `The header "${header}" is missing or has the wrong value.`)
}

/** Compares digests in constant time, whatever the lengths of the texts. An empty secret matches nothing. */
function isSameText(given: string, expected: string): boolean {
  const digest = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest()
  return expected !== '' && timingSafeEqual(digest(given), digest(expected))
}
