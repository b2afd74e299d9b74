/** Whether a credential works, as far as the service knows. `untested`: it was neither used nor tested. */
export const credentialStates = ['untested', 'ok', 'needs_sign_in', 'failing'] as const
export type CredentialState = (typeof credentialStates)[number]

/** The settings of a credential that are not secret, by name: any JSON. Most are texts. */
export type CredentialFields = Readonly<Record<string, unknown>>

export const credentialBounds = Object.freeze({
  nameCharsMax: 64,
  perWorkspaceMax: 500,
  hostsMax: 50,
  /** UTF-8 bytes of all fields as JSON, and of all secrets as JSON. */
  bytesMax: 65_536,
})

/** Explains what is wrong with the name of a credential; undefined when the name is valid. */
export function credentialNameProblem(name: string): string | undefined {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(name)) return undefined
  return `"${name.slice(0, 100)}" is not a valid name of a credential. Use 1 to 64 letters, digits, - or _.`
}

/** The contexts to which the encryption of the secrets and of the tokens of a credential is bound. */
export function credentialContext(workspaceId: string, id: string): string {
  return `credentials/${workspaceId}/${id}`
}

export function credentialTokenContext(workspaceId: string, id: string): string {
  return `credential-tokens/${workspaceId}/${id}`
}
