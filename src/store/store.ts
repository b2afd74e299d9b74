// Long because it is one list: everything that a store does, and the shapes of it.

import type { Refusal } from '../domain/claim.ts'
import type {
  Delivery,
  DeliveryAttempt,
  DeliveryKey,
  DeliverySource,
  DeliveryState,
  DueDelivery,
  EndedAttempt,
  RunDecision,
} from '../domain/delivery.ts'
import type { Job, JobFacts, JobPage } from '../domain/job.ts'
import type { EntryFacts, EntryWorkflow } from '../domain/log-entry.ts'
import type { PlanName, PlanNumbers, RateKind } from '../domain/plan.ts'
import type { ScheduleRow } from '../domain/schedule.ts'
import type { Address, Registrations } from '../domain/trigger.ts'
import type { NewSubscription, SubscriptionChange, SubscriptionRow } from '../domain/webhook.ts'
import type { WorkflowDocument } from '../domain/workflow.ts'
import type { Write } from '../domain/write.ts'
import type { DashboardStore } from './dashboard-store.ts'
import type { LogCountQuery, LogCounts, LogPage, LogQuery } from './log-query.ts'
import type { SessionStore } from './session-store.ts'

/**
 * The port to everything durable. Every call is asynchronous and is one transaction; no callback crosses it.
 * Times are epoch milliseconds. A call rejects with `AppError` `CONFLICT` or `NOT_FOUND` where said, with
 * `STORAGE_UNAVAILABLE` when the disk is full or failing, with anything else for a bug.
 */
export interface Store extends SessionStore, DashboardStore {
  // installation
  /** Makes the first owner, workspace and key. False, and nothing changed, when there is an owner already. */
  createInstallation(first: NewInstallation): Promise<boolean>
  isInitialised(): Promise<boolean>
  /**
   * Puts another key and another link in the place of those that the first start made and that nobody has seen, because it
   * was cut before it could show them. Undefined, and nothing changed, when they were seen or are in use.
   */
  renewInstallation(first: FirstKey): Promise<UnseenInstallation | undefined>
  /** Whether the first start was cut before it could show what it made. */
  isUnseen(): Promise<boolean>
  /** The key and the link were shown. */
  markInstallationSeen(): Promise<void>

  // accounts
  /** Makes an account, its first workspace and its first key. CONFLICT when another account has the e-mail. */
  createUser(account: NewAccount): Promise<void>
  /** Oldest first. */
  listUsers(): Promise<UserRow[]>
  findUser(idOrEmail: string): Promise<UserRow | undefined>
  /** False when there is no such account. CONFLICT when another one has the e-mail. */
  setEmail(userId: string, email: string): Promise<boolean>
  /** Ends the account's sessions but for the one that is kept, by its hash, and its sign-in links. False when there is no such account. */
  setPassword(userId: string, passwordHash: string, keptSession?: Uint8Array): Promise<boolean>
  /** Replaces the plan and the numbers of its own. False when there is no such account. */
  setPlan(userId: string, plan: OwnPlan): Promise<boolean>

  // keys
  findKey(hash: Uint8Array): Promise<KeyRow | undefined>
  /** NOT_FOUND when there is no such account, or no such workspace that it is a member of. */
  createKey(key: NewKey): Promise<void>
  /** Newest first: every one, or those of an account and of the workspaces that it owns. */
  listKeys(userId?: string): Promise<KeyRow[]>
  /** False when there is no such key, or it was revoked before. */
  revokeKey(id: string, at: number): Promise<boolean>
  /** Notes when keys were last used; a use within a minute of the noted one changes nothing. */
  recordKeyUses(uses: readonly KeyUse[]): Promise<void>

  // workspaces
  /** Makes a workspace whose owner is its first member. NOT_FOUND when there is no such account. */
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
  /** Whether the variable is new. NOT_FOUND for a workspace that is not there, INVALID_INPUT beyond `environmentBounds`. */
  setVariable(variable: NewVariable): Promise<boolean>
  /** False when there is none of that name. */
  unsetVariable(workspaceId: string, name: string): Promise<boolean>
  /** The first `length` bytes of everything that is stored sealed, each once: they tell which keys it takes. */
  sealHeads(length: number): Promise<Uint8Array[]>

  /**
   * Deletes everything sealed that begins with one of these, as `sealHeads` gives them; how much that was. The secret of a
   * subscription becomes empty, which none can be that was sealed.
   */
  discardSealed(heads: readonly Uint8Array[]): Promise<Discarded>

  // workflows
  /** CONFLICT when the workspace has a workflow of that name. `id` is kept when it is free, else a new one is given. */
  createWorkflow(workflow: NewWorkflow): Promise<WorkflowRow>
  /**
   * CONFLICT on the name, or when it was saved since `ifRevision`; NOT_FOUND when it is gone. `webhooks`: its subscriptions from now on, those that are not named
   * are deleted; without it they stay as they are.
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
  /** The row stays for its log entries; the name becomes free. False when there is none. */
  deleteWorkflow(id: string, at: number): Promise<boolean>

  // subscriptions: webhooks of a workflow, whichever version of it runs
  /** Oldest first; not the deleted ones. */
  listSubscriptions(workflowId: string): Promise<SubscriptionRow[]>
  /** By their numbers, the deleted ones too. */
  getSubscriptions(numbers: readonly number[]): Promise<SubscriptionRow[]>
  /** NOT_FOUND when there is no such workflow, CONFLICT when the id is taken, INVALID_INPUT beyond `subscriptionsMax`. */
  createSubscription(workflowId: string, subscription: NewSubscription, at: number): Promise<SubscriptionRow>
  /** NOT_FOUND when there is no such workflow or subscription. */
  changeSubscription(workflowId: string, id: string, change: SubscriptionChange, at: number): Promise<SubscriptionRow>
  /** The row stays for its deliveries. False when there is none. */
  deleteSubscription(workflowId: string, id: string, at: number): Promise<boolean>

  // deployments
  /**
   * Copies the given document to the next version and makes it active, with what it registers (nothing when absent) in
   * the place of what the version before it had. CONFLICT when another workflow has one of its addresses.
   */
  deploy(
    workflowId: string,
    document: WorkflowDocument,
    at: number,
    userId: string,
    registrations?: Registrations,
  ): Promise<DeploymentRow>
  /** No active version afterwards, and nothing registered. */
  undeploy(workflowId: string): Promise<void>
  /** False when there is no such version. CONFLICT as for `deploy`. */
  activate(workflowId: string, version: number, at: number, registrations?: Registrations): Promise<boolean>
  /** `name` and `description` of a version. False when there is no such version. */
  describeDeployment(workflowId: string, version: number, texts: DeploymentTexts): Promise<boolean>
  listDeployments(workflowId: string): Promise<DeploymentRow[]>
  getDeployment(workflowId: string, version: number): Promise<DeploymentRow | undefined>
  /** What the execute endpoint needs to know of a workflow; undefined when there is no such workflow. */
  getActive(workflowId: string): Promise<ActiveRow | undefined>
  /** The same with a version that need not be the active one, also of a deleted workflow; undefined when there is none. */
  getVersion(workflowId: string, version: number): Promise<ActiveRow | undefined>
  /**
   * Keeps a draft that is run by hand; answers a version below 0 by which `getDocument` finds it as long as it is one of
   * the newest hundred of its workflow. NOT_FOUND when there is no such workflow.
   */
  keepDraft(workflowId: string, document: WorkflowDocument): Promise<number>
  /** What ran under a version, that of a deployment or of a draft; undefined when it is gone. */
  getDocument(workflowId: string, version: number): Promise<WorkflowDocument | undefined>

  // registrations of active versions
  /** The workflow that is reached by an address. */
  findAddress(address: Address): Promise<string | undefined>
  /** The schedules that are due first, at most `limit`; behind `after`, one that was listed before. */
  listDueSchedules(limit: number, after?: Pick<ScheduleRow, 'dueAt' | 'workflowId'>): Promise<ScheduleRow[]>
  /** Those that have a run waiting for the one before it. */
  listWaitingSchedules(): Promise<ScheduleRow[]>
  /** Undefined when the workflow is not deployed, or has no schedule. */
  getSchedule(workflowId: string): Promise<ScheduleRow | undefined>

  // runs
  /**
   * Writes a group, all or none, but for the writes whose claim belongs to another: which they are, undefined when there
   * is none. Resolves when it is on disk as `MILLRACE_SYNC` has it.
   */
  append(writes: readonly Write[]): Promise<readonly Refusal[] | undefined>
  /** The run that has a request's claim at this time; of `append`'s claims, only those that are on disk. */
  findRequestClaim(workflowId: string, key: string, at: number): Promise<string | undefined>
  /** The highest sequence on disk, 0 when there is none. */
  lastSequence(): Promise<number>
  /** A page of a workspace's entries, or the first part of one. */
  queryLogs(query: LogQuery): Promise<LogPage>
  /** Counts entries over time, newest first, until all is counted or one step has worked for long enough. */
  countLogs(query: LogCountQuery): Promise<LogCounts>
  getLog(sequence: number): Promise<LogDetailRow | undefined>
  getExecution(executionId: string): Promise<LogDetailRow | undefined>

  // jobs: asynchronous runs that have not ended; `append` takes them on and ends them
  getJob(executionId: string): Promise<Job | undefined>
  /** What `job-step` writes gave of a job, in the order of their numbers. */
  getJobSteps(executionId: string): Promise<Uint8Array[]>
  /** The oldest jobs of each workflow that have not started. */
  listQueuedJobs(page: JobPage): Promise<JobFacts[]>
  /** Jobs to go on with, the oldest first. */
  listCutJobs(): Promise<JobFacts[]>
  /** Jobs that were started by a schedule. */
  listScheduledJobs(): Promise<Pick<JobFacts, 'executionId' | 'workflowId'>[]>
  /** Makes running jobs cut ones; `crashed`: their process died, which counts. Answers how many are left. */
  parkJobs(crashed: boolean): Promise<{ queued: number; cut: number }>
  /** The sealed output of a job that ended, when its log entry does not show it as it is. */
  getJobOutput(executionId: string): Promise<Uint8Array | undefined>

  // the outbox: `append` puts in what runs owe
  /**
   * Writes down what became of attempts; nothing for deliveries that are gone. It outlives the process, and need not outlive
   * the machine: what a power cut takes back is due as before, and attempted again.
   */
  endAttempts(attempts: readonly EndedAttempt[]): Promise<void>
  /** Subscriptions that have pending deliveries. */
  pendingSubscriptions(): Promise<number[]>
  /** The first pending ones of a subscription by `dueAt`, then `sequence`, behind `after`. */
  nextDeliveries(
    subscription: number,
    after: { dueAt: number; sequence: number } | null,
    limit: number,
  ): Promise<DueDelivery[]>
  /** What bodies are made of, by sequence; nothing of entries that are gone. */
  readDeliveries(needs: readonly DeliveryNeed[]): Promise<DeliverySource[]>
  /** A page of a workflow's deliveries, the newest first; a rare state may give a short one. */
  listDeliveries(query: DeliveryQuery): Promise<DeliveryPage>
  getDelivery(key: DeliveryKey): Promise<DeliveryRow | undefined>
  /** In their order. */
  listAttempts(key: DeliveryKey): Promise<DeliveryAttempt[]>
  /** What was decided about each subscription of a run's workflow, and what became of it. */
  listRunWebhooks(sequence: number): Promise<RunDecision[]>
  /** Makes a delivery due at `at`, whatever became of it; one that pends keeps the attempts it has left. False: gone. */
  sendAgain(key: DeliveryKey, at: number): Promise<boolean>
  /** The same for failed ones, the oldest first; again with the position that it gives, until that is null. */
  resendFailed(query: FailedDeliveries): Promise<{ keys: DeliveryKey[]; position: DeliveryKey | null }>
  /** False when it does not pend. */
  cancelDelivery(key: DeliveryKey): Promise<boolean>

  // chats; `append` keeps what is said
  /** The latest exchanges of a conversation as they were sealed, the oldest of them first. */
  listTurns(workflowId: string, conversationId: string, limit: number): Promise<Uint8Array[]>

  // files of runs whose log entries are gone
  /** Their folders (`folderOf` of domain/file.ts), at most `limit`. */
  listGoneFiles(limit: number): Promise<string[]>
  /** After they have been deleted. */
  forgetGoneFiles(folders: readonly string[]): Promise<void>

  // usage
  /** What an account spent in the month that starts at `periodStart` (`billingPeriodOf` of domain/cost.ts), in USD. */
  getUsage(userId: string, periodStart: number): Promise<number>

  /** One small step of keeping the log within bounds, oldest entries first. Again until it says `done`. */
  retain(bounds: RetentionBounds): Promise<RetentionStep>

  /** Sizes and queues, for whoever watches. */
  measure(): Promise<DiskStats>

  /** Whether a commit would work now; never throws. Mends what can be mended, so it is also the way back. */
  probe(): Promise<boolean>
  close(): Promise<void>
}

/** `include`: bits of what is wanted. */
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

/** `position`: where to go on; null when there is nothing more. */
export type DeliveryPage = { deliveries: DeliveryRow[]; position: DeliveryKey | null }

/** A delivery as people see it. */
export type DeliveryRow = Delivery & {
  workflowId: string
  executionId: string
  /** When the run ended. */
  endedAt: number
  subscriptionId: string
  /** As it was written, and is now. */
  url: string
  /** Null before the first one has ended. */
  lastAttempt: DeliveryAttempt | null
}

/** Those of runs from sequence `since` on. */
export type FailedDeliveries = {
  workflowId: string
  since: number
  after: DeliveryKey | undefined
  at: number
  limit: number
}

export type DiskStats = {
  databaseBytes: number
  /** Inside the database and used by nothing. */
  freeBytes: number
  walBytes: number
  /** Left on the disk for this user. */
  diskFreeBytes: number
  /** Webhooks that are to be delivered, and when the first of them is or was due; null when there are none. */
  deliveries: { pending: number; oldestDueAt: number | null }
  /** Calls that wait for each of the store's threads. */
  callsWaiting: { writer: number; reader: number; searcher: number }
}

export type RetentionBounds = {
  /** Entries with a lower sequence go: those that were recorded before a time (`sequenceAt` of domain/ids.ts). */
  before: number
  /** The oldest entries go while the database is larger, in bytes. All that is in it counts, free pages do not. */
  bytesMax: number
  /** Time that the step may work before it commits; something is done even with 0. */
  workMs: number
  /** The `heldTo` of the step before, in one round. */
  after?: number
}

export type RetentionStep = {
  /** Log entries deleted. */
  entries: number
  /** Bytes by which the file became smaller. */
  bytesFreed: number
  /** What the database holds now, in bytes. */
  usedBytes: number
  /** How long other writes had to wait for this step, in milliseconds. */
  heldMs: number
  /**
   * Up to this sequence nothing is left but entries that pending deliveries hold, 0 when there are none such: they stay
   * until those have ended, or the disk is full.
   */
  heldTo: number
  /** What is still to go, in bytes: an estimate. */
  leftBytes: number
  /** Whether nothing was left to do. */
  done: boolean
}

export type Role = 'owner' | 'editor' | 'viewer'
/** What a workspace can be shared for: its owner stays. */
export type SharedRole = Exclude<Role, 'owner'>

/** An account with a workspace that it owns, and a key. `plan` null: the installation's. */
export type NewAccount = {
  userId: string
  email: string
  plan: PlanName | null
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

/** `sample`: as it should be by now; it is changed as long as nobody else has. */
export type FirstKey = Pick<NewInstallation, 'signInTokenHash' | 'at'> & {
  key: Omit<NewKey, 'userId'>
  sample: WorkflowDocument | undefined
}

export type UnseenInstallation = { userId: string; workspaceId: string; sampleId: string | null }

/** An account's own plan, null for the installation's, and numbers that go before those of the plan. */
export type OwnPlan = { plan: PlanName | null; numbers: Partial<PlanNumbers> }

export type UserRow = OwnPlan & { id: string; email: string; hasPassword: boolean; createdAt: number }

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

/** `roles`: by workspace, those the key reaches. */
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

/** `jobs`: asynchronous runs that had not ended; `outputs`: of those that had. */
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

/** `by`: the account that saves; `ifRevision`: CONFLICT when the document was saved since. */
export type SaveFacts = { by?: string; ifRevision?: number | undefined }

export type WorkflowRow = {
  id: string
  workspaceId: string
  /** With `id`. */
  document: WorkflowDocument
  createdAt: number
  updatedAt: number
  /** The account that saved it last, as far as it is known. */
  updatedBy: string | null
  /** Higher each time that the document is saved. */
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
