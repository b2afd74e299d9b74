import { textOf } from '../../sim-document.ts'
import type { WantedCredential } from '../mapping.ts'
import type { SimValues } from '../sim-values.ts'

/**
 * The credential for a database that a block of Sim describes. Blocks with the same server and database share it. The
 * import does not keep the password.
 */
export function connectionOf(
  values: SimValues,
  prefix: string,
  label: string,
): { credential: Required<WantedCredential>; note: string } {
  const read = (id: string) => textOf(values.peek(id)).trim().slice(0, 200)
  const [host, port, database, user] = [read('host'), read('port'), read('database'), read('username')]
  const variable = read('password').match(/^\{\{[A-Za-z_][A-Za-z0-9_]*\}\}$/)?.[0]
  values.drop('host', 'port', 'database', 'username', 'password', 'ssl')
  const name = credentialName([prefix, host, database])
  const facts = [
    host === '' ? '' : `server ${host}${port === '' ? '' : `:${port}`}`,
    database === '' ? '' : `database ${database}`,
    user === '' ? '' : `user ${user}`,
  ].filter(Boolean)
  const details = facts.length === 0 ? '' : ` (${facts.join(', ')})`
  return {
    credential: { name, kind: 'sql' },
    note: `Create the credential "${name}" for ${label}${details} with its password${variable ? `, which was ${variable} in Sim` : ''}.`,
  }
}

/** A name of a credential that tells what it belongs to. */
export function credentialName(parts: readonly string[]): string {
  const words = parts.map((part) => part.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-'))
  return words.join('-').replaceAll(/-+/g, '-').replace(/^-/, '').slice(0, 64).replace(/-$/, '')
}
