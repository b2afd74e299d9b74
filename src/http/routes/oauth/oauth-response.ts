import { Type as t } from '@sinclair/typebox'
import { OAuthError } from '../../../accounts/oauth/oauth-error.ts'
import type { ResponseSet } from '../../access/door.ts'
import { statusOf, toAppError } from '../../errors.ts'

/** An error as clients of OAuth expect it (RFC 6749, section 5.2). */
export const OAuthRefusal = t.Object(
  {
    error: t.String({ description: 'A code of OAuth, such as `invalid_grant`.' }),
    error_description: t.String({ description: 'What is wrong, for people.' }),
  },
  { $id: 'OAuthRefusal' },
)

/** Responds to a refusal, and to a body that is not valid, in the shape of OAuth. */
export async function inOAuthShape<Result>(
  set: ResponseSet,
  work: () => Promise<Result>,
): Promise<Result | { error: string; error_description: string }> {
  try {
    return await work()
  } catch (thrown) {
    const { code, message } = refusalOf(thrown)
    set.status = 400
    return { error: code, error_description: message }
  }
}

function refusalOf(thrown: unknown): { code: string; message: string } {
  if (thrown instanceof OAuthError) return thrown
  const error = toAppError(thrown)
  if (statusOf(error.code) !== 400) throw thrown
  return { code: 'invalid_request', message: error.message }
}

/** The parameters of a form or query. Throws invalid_request when a parameter appears twice. */
export function onlyOnce(parameters: URLSearchParams): Map<string, string> {
  const found = new Map<string, string>()
  for (const [name, value] of parameters) {
    if (found.has(name)) throw new OAuthError('invalid_request', `The parameter ${name.slice(0, 50)} appears twice.`)
    found.set(name, value)
  }
  return found
}

export function required(parameters: ReadonlyMap<string, string>, name: string): string {
  const value = parameters.get(name)
  if (value !== undefined && value !== '') return value
  throw new OAuthError('invalid_request', `The parameter ${name} is missing.`)
}
