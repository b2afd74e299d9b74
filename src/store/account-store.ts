import type { Role, SharedRole } from '../domain/account/role.ts'
import type { RateKind, TierLimits, TierName } from '../domain/account/tiers.ts'
import type { WorkflowDocument } from '../domain/workflow/workflow.ts'

/** The part of the port for accounts: keys, workspaces, rate limits and environment variables. */
export interface AccountStore {
  // installation
  /** Creates the first owner, workspace and key. False, and nothing changed, when there is already an owner. */
  createInstallation(first: NewInstallation): Promise<boolean>
  isInitialised(): Promise<boolean>
  /**
   * Replaces the key and the link of the first start when nobody has seen them, because that start was interrupted
   * before it could show them. Undefined, and nothing changed, when they were seen or are in use.
   */
  renewInstallation(first: FirstKey): Promise<UnseenInstallation | undefined>
  /** Whether the first start was interrupted before it could show its key and link. */
  isUnseen(): Promise<boolean>
  /** The key and the link were shown. */
  markInstallationSeen(): Promise<void>

  // accounts
  /** Creates an account, its first workspace and its first key. CONFLICT when another account has the e-mail. */
  createUser(account: NewAccount): Promise<void>
  /** Oldest first. */
  listUsers(): Promise<UserRow[]>
  findUser(idOrEmail: string): Promise<UserRow | undefined>
  /** False when there is no such account. CONFLICT when another one has the e-mail. */
  setEmail(userId: string, email: string): Promise<boolean>
  /**
   * Also ends the account's sign-in links, its connected applications, and its sessions, except `keptSession` (a hash).
   * False when there is no such account.
   */
  setPassword(userId: string, passwordHash: string, keptSession?: Uint8Array): Promise<boolean>
  /** Replaces an account's tier and its own limits. Returns false if the account does not exist. */
  setTier(userId: string, tier: OwnTier): Promise<boolean>

  // keys
  findKey(hash: Uint8Array): Promise<KeyRow | undefined>
  /** NOT_FOUND when there is no such account, or no such workspace that it is a member of. */
  createKey(key: NewKey): Promise<void>
  /** Newest first: every one, or those of an account and of the workspaces that it owns. */
  listKeys(userId?: string): Promise<KeyRow[]>
  /** False when there is no such key, or it was revoked before. */
  revokeKey(id: string, at: number): Promise<boolean>
  /** Records when keys were last used. Ignores a use within a minute of the recorded one. */
  recordKeyUses(uses: readonly KeyUse[]): Promise<void>

  // workspaces
  /** Creates a workspace with its owner as the first member. NOT_FOUND when there is no such account. */
  createWorkspace(workspace: NewWorkspace): Promise<void>
  /** The workspaces an account is a member of, with its role; null: every one, with no role. */
  listWorkspaces(userId: string | null): Promise<WorkspaceRow[]>
  getWorkspace(id: string): Promise<WorkspaceRow | undefined>
  /** NOT_FOUND when there is none. */
  renameWorkspace(id: string, name: string): Promise<WorkspaceRow>
  /** The owner first. */
  listMembers(workspaceId: string): Promise<MemberRow[]>
  /** Adds a member or changes its role. NOT_FOUND for no such workspace or account, CONFLICT for the owner. */
  setMember(workspaceId: string, userId: string, role: SharedRole): Promise<void>
  /** False when it was no member. NOT_FOUND for no such workspace, CONFLICT for the owner. */
  removeMember(workspaceId: string, userId: string): Promise<boolean>

  // rate limits
  /**
   * Stores windows by kind and account, and forgets those that ended before `at`. If other processes may count too, it
   * adds to a window that is open already, and returns the windows as they are now; otherwise nothing.
   */
  saveRateWindows(windows: readonly CountedWindow[], at: number): Promise<readonly RateWindowRow[]>
  /** Windows that end after `at`. */
  listRateWindows(at: number): Promise<RateWindowRow[]>

  // environment
  /** The variables of a workspace, by name; none when there is no such workspace. */
  listEnvironment(workspaceId: string): Promise<VariableRow[]>
  /**
   * Whether the variable is new. NOT_FOUND when there is no such workspace, INVALID_INPUT beyond `environmentBounds`.
   */
  setVariable(variable: NewVariable): Promise<boolean>
  /** False when there is none of that name. */
  unsetVariable(workspaceId: string, name: string): Promise<boolean>
  /** The distinct first `length` bytes of everything that is stored sealed. They identify the keys. */
  sealHeads(length: number): Promise<Uint8Array[]>

  /**
   * Deletes everything sealed that begins with one of these `sealHeads`, and returns how much that was. The secrets of
   * a subscription and of a credential become empty; a sealed secret is never empty.
   */
  discardSealed(heads: readonly Uint8Array[]): Promise<Discarded>

  /**
   * Up to `limit` sealed values of a kind that do not begin with `head`, after `after`. The newest come first: a change
   * of the key that was interrupted leaves the oldest, which `sealHeads` reads. Documents have calls of their own
   * (`listSealedDocuments`).
   */
  listSealed(kind: SealedKind, head: Uint8Array, limit: number, after?: SealedPlace): Promise<SealedPlace[]>
  /** Undefined when it was deleted. */
  readSealed(place: SealedPlace): Promise<Uint8Array | undefined>
  /** Replaces, in one step, those values that are still `before`. Returns how many that were. */
  replaceSealed(changes: readonly SealedChange[]): Promise<number>
}

/** An account with a workspace that it owns, and a key. `plan` is null for the tier of the installation. */
export type NewAccount = {
  userId: string
  email: string
  plan: TierName | null
  workspaceId: string
  workspaceName: string
  key: NewKey
  at: number
}

export type NewInstallation = Omit<NewAccount, 'plan'> & {
  /** SHA-256 of the one-time sign-in token; null when none is printed. */
  signInTokenHash: Uint8Array | null
  /** A workflow that is deployed at once. */
  sample?: { id: string; document: WorkflowDocument }
}

/** `sample`: the sample workflow for the current address. It replaces the stored one if nobody has edited that. */
export type FirstKey = Pick<NewInstallation, 'signInTokenHash' | 'at'> & {
  key: Omit<NewKey, 'userId'>
  sample: WorkflowDocument | undefined
}

export type UnseenInstallation = { userId: string; workspaceId: string; sampleId: string | null }

/** An account's own tier, or null for the tier of the installation, and its own limits, which override the tier's. */
export type OwnTier = { plan: TierName | null; numbers: Partial<TierLimits> }

export type UserRow = OwnTier & { id: string; email: string; hasPassword: boolean; createdAt: number }

/** Only the hash and the last four characters of a key are kept. `workspaceId` null: a personal key. */
export type NewKey = {
  id: string
  hash: Uint8Array
  lastFour: string
  name: string
  userId: string
  workspaceId: string | null
  createdAt: number
  expiresAt: number | null
}

/** `roles`: the role in each workspace that the key has access to. */
export type KeyRow = Omit<NewKey, 'hash'> & {
  revokedAt: number | null
  lastUsedAt: number | null
  roles: Record<string, Role>
}

export type KeyUse = { keyId: string; at: number }

/** A window of rate limiting: requests counted in it, and when it ends. */
export type RateWindowRow = { kind: RateKind; userId: string; used: number; resetAt: number }

/** `added`: the requests counted since the window was stored last. */
export type CountedWindow = RateWindowRow & { added: number }

export type NewWorkspace = { id: string; name: string; ownerId: string; at: number }

export type MemberRow = { userId: string; email: string; role: Role }

export type WorkspaceRow = { id: string; name: string; ownerId: string; createdAt: number; role: Role | null }

/** A variable of an environment. `plain`: need not be redacted; `sealed`: the encrypted value. */
export type VariableRow = { name: string; sealed: Uint8Array; plain: boolean; updatedAt: number }

/** `jobs`: asynchronous runs that had not ended. `outputs`: outputs of asynchronous runs that had ended. */
export type Discarded = {
  variables: number
  jobs: number
  outputs: number
  webhookSecrets: number
  credentials: number
}

/** The kinds of values that are stored sealed, apart from secrets in documents. */
export const sealedKinds = [
  ...(['chatTurn', 'jobOutput', 'heldResponse', 'pin', 'jobStep', 'jobInput'] as const),
  ...(['pauseContent', 'pauseAnswer'] as const),
  ...(['webhookSecret', 'previousWebhookSecret', 'alertSecret', 'variable', 'credential', 'credentialToken'] as const),
]
export type SealedKind = (typeof sealedKinds)[number]

/**
 * The place of a sealed value. `key` finds its row. `owner`: the IDs and names of its context, in the context's order.
 */
export type SealedPlace = {
  kind: SealedKind
  key: readonly (number | string | Uint8Array)[]
  owner: readonly string[]
}

export type SealedChange = { place: SealedPlace; before: Uint8Array; after: Uint8Array }

export type NewVariable = Omit<VariableRow, 'updatedAt'> & { workspaceId: string; at: number }
