import { variableReference } from '../account/environment.ts'
import type { CredentialFields, CredentialState } from './credential.ts'

/** A credential with its secrets decrypted. Must not leave the process. */
export type OpenCredential = {
  id: string
  workspaceId: string
  name: string
  kind: string
  hosts: readonly string[]
  fields: CredentialFields
  secrets: Readonly<Record<string, string>>
  state: CredentialState
  problem: string | null
  updatedAt: number
  /** Counts the tokens that were stored. */
  tokenVersion: number
  /** The secrets were lost with their key. */
  isLost?: true
}

/** Fills in `{{NAME}}`. `variable` may throw for a variable that is not set. */
export function filledCredential(credential: OpenCredential, variable: (name: string) => string): OpenCredential {
  const fill = (text: string) => text.replace(variableReference, (_, name: string) => variable(name))
  return {
    ...credential,
    fields: filledTexts(credential.fields, fill),
    secrets: filledTexts(credential.secrets, fill) as Readonly<Record<string, string>>,
  }
}

function filledTexts(value: Readonly<Record<string, unknown>>, fill: (text: string) => string) {
  return Object.fromEntries(
    Object.entries(value).map(([name, each]): [string, unknown] => {
      if (typeof each === 'string') return [name, fill(each)]
      const isObject = typeof each === 'object' && each !== null && !Array.isArray(each)
      return [name, isObject ? filledTexts(each as Record<string, unknown>, fill) : each]
    }),
  )
}
