import type { CredentialEdit } from '../../../credentials/credentials.ts'
import type { WrittenCredential } from '../../../domain/credential/validate.ts'
import { problemsError } from '../../../domain/errors.ts'
import { isObject } from '../../../domain/run/input.ts'

/** The body of a request that creates a credential. INVALID_INPUT lists members of the wrong type. */
export function readNewCredential(body: unknown): WrittenCredential {
  const edit = readCredentialEdit(body)
  const missing = (['name', 'kind'] as const).filter((name) => edit[name] === undefined)
  if (missing.length > 0) {
    const problems = missing.map((path) => ({ path, message: `${path} must be given.` }))
    throw problemsError('INVALID_INPUT', problems)
  }
  const { name = '', kind = '', hosts = [], fields = {}, secrets = {} } = edit
  const set = Object.entries(secrets).filter((pair): pair is [string, string] => pair[1] !== null)
  return { name, kind, hosts, fields, secrets: Object.fromEntries(set) }
}

/** The body of a request that changes a credential. */
export function readCredentialEdit(body: unknown): CredentialEdit {
  const { name, kind, hosts, fields, secrets } = isObject(body) ? body : {}
  const problems = [
    ...problemOf('name', name, isText, 'a text'),
    ...problemOf('kind', kind, isText, 'a text'),
    ...problemOf('hosts', hosts, (value) => Array.isArray(value) && value.every(isText), 'a list of texts'),
    ...problemOf('fields', fields, isObject, 'an object'),
    ...problemOf('secrets', secrets, isSecrets, 'an object of texts; null removes a secret'),
  ]
  if (problems.length > 0) throw problemsError('INVALID_INPUT', problems)
  return Object.fromEntries(
    Object.entries({ name, kind, hosts, fields, secrets }).filter(([, value]) => value !== undefined),
  ) as CredentialEdit
}

const isText = (value: unknown) => typeof value === 'string'
const isSecrets = (value: unknown) =>
  isObject(value) && Object.values(value).every((each) => each === null || isText(each))

function problemOf(path: string, value: unknown, isRight: (value: unknown) => boolean, shape: string) {
  return value === undefined || isRight(value) ? [] : [{ path, message: `${path} must be ${shape}.` }]
}
