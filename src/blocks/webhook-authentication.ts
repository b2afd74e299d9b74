import {
  authenticationLabels,
  authenticationMembers,
  WebhookAuthentication,
} from '../domain/webhook/webhook-trigger.ts'
import type { ParameterFinding } from '../engine/block.ts'

/** Checks the parameter `authentication` of a block that receives requests. */
export function checkAuthentication(authentication: WebhookAuthentication): ParameterFinding[] {
  const { type, name } = authentication
  const missing = authenticationMembers[type].filter((member) => !authentication[member])
  const findings = missing.map((member) => {
    const { title } = WebhookAuthentication.properties[member]
    const message = `${title} is empty, but the authentication “${authenticationLabels[type]}” needs it.`
    return error('MISSING_PARAMETER', `authentication.${member}`, message)
  })
  findings.push(...checkSecret(authentication))
  if (type !== 'header' || !name || isHeaderName(name)) return findings
  return [...findings, error('INVALID_HEADER', 'authentication.name', `"${name}" cannot be the name of a header.`)]
}

/** Finds secrets that no request can contain, so that every sender would be refused. Variables are not checked here. */
function checkSecret({ type, token = '', value = '', scheme, secret = '' }: WebhookAuthentication): ParameterFinding[] {
  if (type === 'bearer' && /\s/.test(token)) {
    return [error('INVALID_PARAMETER', 'authentication.token', 'A bearer token cannot contain spaces or line breaks.')]
  }
  if (type === 'header' && (value !== value.trim() || hasControls(value))) {
    const message = 'The value of a header cannot contain line breaks, or start or end with a space.'
    return [error('INVALID_PARAMETER', 'authentication.value', message)]
  }
  const isLiteral = secret !== '' && !secret.includes('{{')
  if (type !== 'signature' || scheme !== 'standard' || !isLiteral || /^(whsec_)?[A-Za-z0-9+/_-]+=*$/.test(secret))
    return []
  const message = 'A secret of Standard Webhooks consists of "whsec_" and a key in base64.'
  return [error('INVALID_PARAMETER', 'authentication.secret', message)]
}

function hasControls(text: string): boolean {
  return /\p{Cc}/u.test(text)
}

export function isHeaderName(name: string): boolean {
  return /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name)
}

function error(code: string, path: string, message: string): ParameterFinding {
  return { level: 'error', code, path, message }
}
