import type { WantedCredential } from '../import/mapping.ts'
import type { SimValues } from '../import/sim-values.ts'
import { textOf } from '../sim-document.ts'
import type { ServiceRules } from './rule.ts'

/** The sub-blocks with the ID of an account that is connected in Sim. The ID has no meaning outside of Sim. */
const accounts = ['credential', 'manualCredential', 'oauthCredential', 'serviceAccountCredential', 'triggerCredentials']

/**
 * The credential that a block of a service needs. Each account and each key of a service has its own name, so that two
 * blocks share a credential exactly if they shared it in Sim. A secret must never become part of the document.
 */
export function credentialFor(
  rules: Pick<ServiceRules, 'connector' | 'service' | 'credential' | 'credentialNotes'>,
  values: SimValues,
): { credential: WantedCredential; notes: string[] } | undefined {
  if (!rules.credential) return undefined
  const { kind, secrets = [] } = rules.credential
  const account = accounts.map((id) => textOf(values.peek(id))).find((text) => text !== '')
  const secret = secrets.map((id) => textOf(values.peek(id))).find((text) => text !== '')
  values.drop(...accounts, ...secrets)
  const variable = secret?.match(/^\s*\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}\s*$/)?.[1]
  const name = nameOf(rules.connector, variable, account)
  const notes = [...(rules.credentialNotes?.(values) ?? [])]
  if (variable !== undefined) notes.push(`The secret of the credential "${name}" was {{${variable}}} in Sim.`)
  else if (secret !== undefined) {
    notes.push(
      `The file contains a secret for ${rules.service}. The import did not keep it: enter it in the credential "${name}".`,
    )
  }
  return { credential: { name, kind }, notes }
}

function nameOf(connector: string, variable: string | undefined, account: string | undefined): string {
  const variableWord = variable?.toLowerCase().replaceAll('_', '-')
  const word =
    variableWord ??
    account
      ?.replace(/^cred_/, '')
      .replaceAll(/[^A-Za-z0-9]/g, '')
      .slice(0, 8)
  if (!word) return connector
  return (word.startsWith(connector) ? word : `${connector}-${word}`).slice(0, 64)
}
