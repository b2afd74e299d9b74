// Long because it is one list: all calls of the store and their types.

import type { Role, SharedRole } from '../domain/account/role.ts'
import type { RateKind, TierLimits, TierName } from '../domain/account/tiers.ts'
import type { Refusal } from '../domain/run/claim.ts'
import type { Job, JobFacts, JobPage } from '../domain/run/job.ts'
import type { EntryFacts, EntryWorkflow } from '../domain/run/log-entry.ts'
import type { Write } from '../domain/run/write.ts'
import type { ScheduleRow } from '../domain/schedule/schedule.ts'
import type {
  Delivery,
  DeliveryAttempt,
  DeliveryKey,
  DeliverySource,
  DeliveryState,
  DueDelivery,
  EndedAttempt,
  RunDecision,
} from '../domain/webhook/delivery.ts'
import type { NewSubscription, SubscriptionChange, SubscriptionRow } from '../domain/webhook/subscription.ts'
import type { Address, Registrations } from '../domain/workflow/trigger.ts'
import type { WorkflowDocument } from '../domain/workflow/workflow.ts'
import type { DashboardStore } from './dashboard-store.ts'
import type { LogCountQuery, LogCounts, LogPage, LogQuery } from './log-query.ts'
import type { SessionStore } from './session-store.ts'

/**
 * The port to durable storage. Every call is asynchronous and is one transaction; no callback crosses it.
 * Times are epoch milliseconds. A call rejects with an `AppError`: `CONFLICT` or `NOT_FOUND` where its comment
 * says so, `STORAGE_UNAVAILABLE` when the disk is full or failing. Any other error is a bug.
 */
export interface Store extends SessionStore, DashboardStore {
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
   * Also ends the account's sign-in links and its sessions, except `keptSession` (a hash). False when there is no such
   * account.
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
  /** Replaces windows by kind and account, and forgets those that ended before `at`. */
  saveRateWindows(windows: readonly RateWindowRow[], at: number): Promise<void>
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
   * Deletes everything sealed that begins with one of these `sealHeads`, and returns how much that was. The secret of a
   * subscription becomes empty; a sealed secret is never empty.
   */
  discardSealed(heads: readonly Uint8Array[]): Promise<Discarded>

  // workflows
  /** CONFLICT when the workspace has a workflow of that name. Uses `id` if it is free, else a new ID. */
  createWorkflow(workflow: NewWorkflow): Promise<WorkflowRow>
  /**
   * CONFLICT when the name is taken or the workflow was saved after `ifRevision`, NOT_FOUND when it does not exist.
   * `webhooks` replaces all its subscriptions; absent: they stay.
   */
  updateWorkflow(
    id: string,
    document: WorkflowDocument,
    at: number,
    webhooks?: readonly NewSubscription[],
    save?: SaveFacts,
  ): Promise<WorkflowRow>
  getWorkflow(id: string): Promise<WorkflowRow | undefined>
  listWorkflows(workspaceId: string): Promise<WorkflowRow[]>
  /** Keeps the row for its log entries, and frees the name. False when there is no such workflow. */
  deleteWorkflow(id: string, at: number): Promise<boolean>

  // webhook subscriptions: they belong to a workflow and apply to all its versions
  /** Oldest first; not the deleted ones. */
  listSubscriptions(workflowId: string): Promise<SubscriptionRow[]>
  /** By their numbers, the deleted ones too. */
  getSubscriptions(numbers: readonly number[]): Promise<SubscriptionRow[]>
  /**
   * NOT_FOUND when there is no such workflow, CONFLICT when the id is taken, INVALID_INPUT beyond `subscriptionsMax`.
   */
  createSubscription(workflowId: string, subscription: NewSubscription, at: number): Promise<SubscriptionRow>
  /** NOT_FOUND when there is no such workflow or subscription. */
  changeSubscription(workflowId: string, id: string, change: SubscriptionChange, at: number): Promise<SubscriptionRow>
  /** Keeps the row for its deliveries. False when there is no such subscription. */
  deleteSubscription(workflowId: string, id: string, at: number): Promise<boolean>

  // deployments
  /**
   * Saves the document as the next version and makes it active. `registrations` (absent: none) replace those of the
   * previous version. CONFLICT when another workflow has one of its addresses.
   */
  deploy(
    workflowId: string,
    document: WorkflowDocument,
    at: number,
    userId: string,
    registrations?: Registrations,
  ): Promise<DeploymentRow>
  /** Removes the active version and all registrations. */
  undeploy(workflowId: string): Promise<void>
  /** False when there is no such version. CONFLICT as for `deploy`. */
  activate(workflowId: string, version: number, at: number, registrations?: Registrations): Promise<boolean>
  /** Sets the name and description of a version. False when there is no such version. */
  describeDeployment(workflowId: string, version: number, texts: DeploymentTexts): Promise<boolean>
  listDeployments(workflowId: string): Promise<DeploymentRow[]>
  getDeployment(workflowId: string, version: number): Promise<DeploymentRow | undefined>
  /** The data of a workflow that the execute endpoint needs; undefined when the workflow does not exist. */
  getActive(workflowId: string): Promise<ActiveRow | undefined>
  /**
   * The same for any version, also of a deleted workflow; undefined when the version does not exist.
   */
  getVersion(workflowId: string, version: number): Promise<ActiveRow | undefined>
  /**
   * Keeps the draft of a manual run. Returns a version below 0, by which `getDocument` finds the draft while it is one
   * of the newest hundred of its workflow. NOT_FOUND when there is no such workflow.
   */
  keepDraft(workflowId: string, document: WorkflowDocument): Promise<number>
  /** The document of a deployment's or draft's version; undefined when it was deleted. */
  getDocument(workflowId: string, version: number): Promise<WorkflowDocument | undefined>

  // registrations of active versions
  /** The ID of the workflow that has this address. */
  findAddress(address: Address): Promise<string | undefined>
  /** Up to `limit` schedules in order of due time. `after`: the last one of the previous page. */
  listDueSchedules(limit: number, after?: Pick<ScheduleRow, 'dueAt' | 'workflowId'>): Promise<ScheduleRow[]>
  /** Schedules with a run that waits for the previous run to end. */
  listWaitingSchedules(): Promise<ScheduleRow[]>
  /** Undefined when the workflow is not deployed, or has no schedule. */
  getSchedule(workflowId: string): Promise<ScheduleRow | undefined>

  // runs
  /**
   * Writes a group, all or none, except the writes whose claim belongs to another run. Returns these refusals;
   * undefined when there are none. Resolves when the group is committed, and flushed to disk if `MILLRACE_SYNC` is
   * `full`.
   */
  append(writes: readonly Write[]): Promise<readonly Refusal[] | undefined>
  /** The run that holds a request's claim at this time. */
  findRequestClaim(workflowId: string, key: string, at: number): Promise<string | undefined>
  /** The highest sequence on disk, 0 when there is none. */
  lastSequence(): Promise<number>
  /** One page of a workspace's entries, or the first part of it. */
  queryLogs(query: LogQuery): Promise<LogPage>
  /** Counts entries over time, newest first, until everything is counted or the time limit is reached. */
  countLogs(query: LogCountQuery): Promise<LogCounts>
  getLog(sequence: number): Promise<LogDetailRow | undefined>
  getExecution(executionId: string): Promise<LogDetailRow | undefined>

  // jobs: asynchronous runs that have not ended; `append` creates and ends them
  getJob(executionId: string): Promise<Job | undefined>
  /** The contents of a job's `job-step` writes, in the order of their numbers. */
  getJobSteps(executionId: string): Promise<Uint8Array[]>
  /** The oldest jobs of each workflow that have not started. */
  listQueuedJobs(page: JobPage): Promise<JobFacts[]>
  /** Interrupted jobs, oldest first. */
  listInterruptedJobs(): Promise<JobFacts[]>
  /** Jobs that were started by a schedule. */
  listScheduledJobs(): Promise<Pick<JobFacts, 'executionId' | 'workflowId'>[]>
  /** Marks running jobs as interrupted, and counts a crash for each if `crashed`. Returns how many jobs are left. */
  parkJobs(crashed: boolean): Promise<{ queued: number; interrupted: number }>
  /** The sealed output of a job that ended; undefined when its log entry shows the complete output. */
  getJobOutput(executionId: string): Promise<Uint8Array | undefined>

  // the outbox: `append` adds the pending deliveries of runs
  /**
   * Records the outcomes of attempts; ignores deliveries that were deleted. A recorded outcome survives the process,
   * but a power cut may undo it: then the delivery is due as before, and attempted again.
   */
  endAttempts(attempts: readonly EndedAttempt[]): Promise<void>
  /** Subscriptions that have pending deliveries. */
  pendingSubscriptions(): Promise<number[]>
  /** The first pending deliveries of a subscription by `dueAt`, then `sequence`, after `after`. */
  nextDeliveries(
    subscription: number,
    after: { dueAt: number; sequence: number } | null,
    limit: number,
  ): Promise<DueDelivery[]>
  /** The contents of webhook bodies, by sequence; omits entries that were deleted. */
  readDeliveries(needs: readonly DeliveryNeed[]): Promise<DeliverySource[]>
  /** One page of a workflow's deliveries, newest first; it may be short for a rare state. */
  listDeliveries(query: DeliveryQuery): Promise<DeliveryPage>
  getDelivery(key: DeliveryKey): Promise<DeliveryRow | undefined>
  /** In order. */
  listAttempts(key: DeliveryKey): Promise<DeliveryAttempt[]>
  /** The decision about each subscription of a run's workflow, and its outcome. */
  listRunWebhooks(sequence: number): Promise<RunDecision[]>
  /**
   * Makes a delivery due at `at`, whatever its state. A pending one keeps the attempts it has left. False: it was
   * deleted.
   */
  sendAgain(key: DeliveryKey, at: number): Promise<boolean>
  /** The same for failed deliveries, oldest first. Call it again with the returned position until that is null. */
  resendFailed(query: FailedDeliveries): Promise<{ keys: DeliveryKey[]; position: DeliveryKey | null }>
  /** False when it is not pending. */
  cancelDelivery(key: DeliveryKey): Promise<boolean>

  // chats; `append` records the messages
  /** The latest exchanges of a conversation, sealed, oldest first. */
  listTurns(workflowId: string, conversationId: string, limit: number): Promise<Uint8Array[]>

  // files of runs whose log entries were deleted
  /** Their folders (`folderOf` of domain/run/file.ts), at most `limit`. */
  listGoneFiles(limit: number): Promise<string[]>
  /** Call this after the folders have been deleted. */
  forgetGoneFiles(folders: readonly string[]): Promise<void>

  // usage
  /**
   * The cost of an account in the month that starts at `periodStart` (`billingPeriodOf` of domain/run/cost.ts), in
   * USD.
   */
  getUsage(userId: string, periodStart: number): Promise<number>

  /** Deletes some of the oldest log entries beyond the bounds. Call it again until it returns `done`. */
  retain(bounds: RetentionBounds): Promise<RetentionStep>

  /** Sizes and queues, for metrics. */
  measure(): Promise<DiskStats>

  /** Whether a commit would work now; never throws. It also recovers from an earlier failure where possible. */
  probe(): Promise<boolean>
  close(): Promise<void>
}

/** `include`: bits of the requested parts. */
export type DeliveryNeed = { sequence: number; include: number }

/** `after`: the `position` of the page before. */
export type DeliveryQuery = {
  workflowId: string
  state: DeliveryState | undefined
  /** Only those to this subscription, by its id, which may be deleted. */
  webhookId?: string | undefined
  after: DeliveryKey | undefined
  limit: number
}

/** `position`: where the next page starts; null on the last page. */
export type DeliveryPage = { deliveries: DeliveryRow[]; position: DeliveryKey | null }

/** A delivery with its run, for lists. */
export type DeliveryRow = Delivery & {
  workflowId: string
  executionId: string
  /** When the run ended. */
  endedAt: number
  subscriptionId: string
  /** The subscription's current address. */
  url: string
  /** Null before the first attempt has ended. */
  lastAttempt: DeliveryAttempt | null
}

/** Failed deliveries of runs from sequence `since` on. */
export type FailedDeliveries = {
  workflowId: string
  since: number
  after: DeliveryKey | undefined
  at: number
  limit: number
}

export type DiskStats = {
  databaseBytes: number
  /** Unused pages inside the database. */
  freeBytes: number
  walBytes: number
  /** Free disk space for this user. */
  diskFreeBytes: number
  /** Pending webhook deliveries, and when the first of them is or was due; null when there are none. */
  deliveries: { pending: number; oldestDueAt: number | null }
  /** Calls that wait for each of the store's threads. */
  callsWaiting: { writer: number; reader: number; searcher: number }
}

export type RetentionBounds = {
  /** Entries with a lower sequence are deleted: those recorded before a time (`sequenceAt` of domain/ids.ts). */
  before: number
  /** While the database is larger than this, in bytes, the oldest entries are deleted. Free pages do not count. */
  bytesMax: number
  /** How long the step may work before it commits. Even with 0 it makes some progress. */
  workMs: number
  /** The `heldTo` of the previous step of this round. */
  after?: number
}

export type RetentionStep = {
  /** Log entries deleted. */
  entries: number
  /** Bytes by which the file became smaller. */
  bytesFreed: number
  /** Used bytes of the database after the step. */
  usedBytes: number
  /** How long other writes had to wait for this step, in milliseconds. */
  heldMs: number
  /**
   * Up to this sequence only entries with pending deliveries are left; 0 when there are none. They stay until these
   * deliveries have ended, or the disk is full.
   */
  heldTo: number
  /** An estimate of the bytes still to delete. */
  leftBytes: number
  /** Whether there is nothing more to do. */
  done: boolean
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

export type NewWorkspace = { id: string; name: string; ownerId: string; at: number }

export type MemberRow = { userId: string; email: string; role: Role }

export type WorkspaceRow = { id: string; name: string; ownerId: string; createdAt: number; role: Role | null }

/** A variable of an environment. `plain`: need not be redacted; `sealed`: the encrypted value. */
export type VariableRow = { name: string; sealed: Uint8Array; plain: boolean; updatedAt: number }

/** `jobs`: asynchronous runs that had not ended. `outputs`: outputs of asynchronous runs that had ended. */
export type Discarded = { variables: number; jobs: number; outputs: number; webhookSecrets: number }

export type NewVariable = Omit<VariableRow, 'updatedAt'> & { workspaceId: string; at: number }

export type NewWorkflow = {
  id: string | null
  workspaceId: string
  document: WorkflowDocument
  /** Its subscriptions. */
  webhooks?: readonly NewSubscription[]
  by?: string
  at: number
}

/** `by`: the account that saves. `ifRevision`: CONFLICT when the document was saved after this revision. */
export type SaveFacts = { by?: string; ifRevision?: number | undefined }

export type WorkflowRow = {
  id: string
  workspaceId: string
  /** Includes the ID. */
  document: WorkflowDocument
  createdAt: number
  updatedAt: number
  /** The account that saved it last; null when it is not known. */
  updatedBy: string | null
  /** Rises each time the document is saved. */
  revision: number
  /** Whether the document would run differently from the active version; false when there is none. */
  hasChanges: boolean
  activeVersion: number | null
  /** When the active version was made active; null with `activeVersion`. */
  deployedAt: number | null
}

export type DeploymentTexts = { name?: string | null; description?: string | null }

export type DeploymentRow = {
  workflowId: string
  version: number
  document: WorkflowDocument
  createdAt: number
  createdBy: string
  active: boolean
  name: string | null
  description: string | null
}

export type ActiveRow = {
  workflowId: string
  workspaceId: string
  /** The account that the workspace belongs to. */
  ownerId: string
  /** Null when the workflow is not deployed. */
  deployment: { version: number; document: WorkflowDocument } | null
}

/** A log entry as it was recorded. */
export type LogDetailRow = EntryFacts & {
  workspaceId: string
  version: number
  /** When an asynchronous run was accepted; null for others. */
  createdAt: number | null
  /** JSON text of the whole `Cost`; null when the run cost nothing. */
  cost: string | null
  finalOutput: string
  traceSpans: string
  /** JSON of its `RunFile`s; null when it has none. */
  files: string | null
  workflow: EntryWorkflow
}
