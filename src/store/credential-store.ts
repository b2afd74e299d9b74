import type { CredentialFields, CredentialState } from '../domain/credential/credential.ts'

/** The part of the port for credentials. They belong to a workspace; their names are unique in it. */
export interface CredentialStore {
  /** By name; none when there is no such workspace. */
  listCredentials(workspaceId: string): Promise<CredentialRow[]>
  getCredential(workspaceId: string, name: string): Promise<CredentialRow | undefined>
  /**
   * NOT_FOUND when there is no such workspace, CONFLICT when the name is taken, INVALID_INPUT beyond
   * `credentialBounds.perWorkspaceMax`.
   */
  createCredential(credential: NewCredential): Promise<CredentialRow>
  /**
   * Replaces what authors set. The state becomes `untested`. NOT_FOUND when there is no such credential, CONFLICT when
   * the new name is taken.
   */
  updateCredential(id: string, change: CredentialChange): Promise<CredentialRow>
  /** False when there is no such credential. */
  deleteCredential(workspaceId: string, name: string): Promise<boolean>
  /**
   * Lets one process at a time refresh the token of a credential. Returns the credential as it is now when `owner` has
   * the lease from now on, until `until`; undefined when another owner has it, or there is no such credential.
   */
  takeCredentialLease(id: string, owner: string, now: number, until: number): Promise<CredentialRow | undefined>
  /**
   * Stores the token when its version is still `version`, and raises the version by one. The lease of `owner` ends.
   * False when somebody else stored a token, or there is no such credential: then nothing is stored.
   */
  saveCredentialToken(id: string, owner: string, version: number, change: TokenChange): Promise<boolean>
  /** Gives up the lease of `owner`, if it has one. */
  endCredentialLease(id: string, owner: string): Promise<void>
  /** Unknown credentials are ignored. A later time stays. */
  noteCredentialUses(uses: readonly CredentialUse[]): Promise<void>
}

export type CredentialRow = {
  id: string
  workspaceId: string
  name: string
  kind: string
  hosts: readonly string[]
  fields: CredentialFields
  /** The encrypted secrets. Empty when their key was lost. */
  sealed: Uint8Array
  createdAt: number
  updatedAt: number
  /** The account of the last change. */
  updatedBy: string
  state: CredentialState
  /** Why the state is neither `ok` nor `untested`. */
  problem: string | null
  lastUsedAt: number | null
  /** The encrypted tokens; null when there are none, empty when their key was lost. */
  token: Uint8Array | null
  tokenVersion: number
  /** When the token expires. */
  expiresAt: number | null
}

export type NewCredential = {
  id: string
  workspaceId: string
  name: string
  kind: string
  hosts: readonly string[]
  fields: CredentialFields
  sealed: Uint8Array
  at: number
  by: string
}

/** `keepsToken`: the change does not concern how tokens are got. */
export type CredentialChange = Omit<NewCredential, 'id' | 'workspaceId'> & { keepsToken: boolean }

/** `token`: null removes it. */
export type TokenChange = {
  token: Uint8Array | null
  state: CredentialState
  problem: string | null
  expiresAt: number | null
  /** When it was found that a person has to sign in again: an event of the workspace. */
  needsSignInAt?: number
}

/** A request with a credential, and the state that it has shown. Without one, the state stays. */
export type CredentialUse = { id: string; at: number; state?: { state: CredentialState; problem: string | null } }
