import type { AccountLimits } from '../accounts/limits.ts'
import type { Clock } from '../domain/clock.ts'
import type { Redactor } from '../domain/redaction/redactor.ts'
import type { FileOwner, FreshenFiles } from '../domain/run/file.ts'
import type { RunRecord } from '../domain/run/log.ts'
import type { PriceTable } from '../domain/run/model-prices.ts'
import type { Registrations } from '../domain/workflow/trigger.ts'
import type { Finding, WorkflowDocument } from '../domain/workflow/workflow.ts'
import type { Compilation } from '../engine/compile/plan.ts'
import type { Reach } from '../engine/manual/reachable-part.ts'
import type { RunRequest } from '../engine/run/runner.ts'
import type { ExpectedRun, Watcher } from '../events/bus.ts'
import type { ReceiveFiles } from '../files/upload.ts'
import type { SignedIn } from '../store/session-store.ts'
import type { KeyRow, Store } from '../store/store.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { RequestMetrics } from '../telemetry/request-metrics.ts'
import type { Subscriptions } from '../webhooks/subscriptions.ts'
import type { Trials } from '../webhooks/trial.ts'
import type { UserDecisions } from '../webhooks/user-decisions.ts'
import type { ExecuteServices } from './execute-services.ts'
import type { InterfaceFiles } from './interface-files.ts'
import type { ChatServices } from './routes/chat.ts'
import type { WebhookServices } from './routes/inbound-webhooks.ts'

/** All that the HTTP interface is a skin over; `app.ts` puts it together. */
export type Services = {
  store: Store
  lookUpKey: LookUpKey
  deployments: {
    /** After a deployment has changed: the next run reads it anew. */
    forget(workflowId: string): void
  }
  /** A document as it is stored, with the parameters that are given at save; `before`: what is stored now. */
  completeDocument(document: WorkflowDocument, before: WorkflowDocument | undefined): WorkflowDocument
  /** The meaning of a document. */
  checkWorkflow(document: WorkflowDocument, workspaceId: string): WorkflowCheck | Promise<WorkflowCheck>
  runner: {
    /** A run that has not ended yet. */
    find(executionId: string): RunInFlight | undefined
    /** Asks a run to end. False when it is not in flight. */
    cancel(executionId: string, code: 'CANCELLED'): boolean
  }
  jobs: {
    /** An asynchronous run that has not ended. */
    find(executionId: string): Promise<JobInFlight | undefined>
    /** Ends one, whether it runs or waits; resolves when that is on disk. False when there is none, or it has ended. */
    cancel(executionId: string): Promise<boolean>
  }
  manual: ManualServices
  /** The routes that start runs. */
  runs: { execute: ExecuteServices; webhooks: WebhookServices; chats: ChatServices }
  /** JSON text of what an asynchronous run gave, where its log entry does not show it as it is. */
  outputOf(executionId: string): Promise<string | undefined>
  sessions: SessionServices
  installation: InstallationFacts
  priceOf: PriceTable
  /** Webhooks of workflows. */
  subscriptions: Pick<
    Subscriptions,
    'of' | 'changing' | 'findProblems' | 'prepare' | 'create' | 'change' | 'rotate' | 'delete' | 'find'
  >
  deliveries: Pick<UserDecisions, 'resend' | 'resendFailed' | 'cancel'>
  /** Sends a test to a webhook. OVERLOADED when it was broken off. */
  tryWebhook: Trials['run']
  environments: {
    /** Encrypts and stores a variable; the next run reads it. INVALID_INPUT when it cannot be one. */
    set(variable: { workspaceId: string; name: string; value: string; plain: boolean }): Promise<{ updatedAt: number }>
    /** False when there is no such variable. */
    unset(workspaceId: string, name: string): Promise<boolean>
  }
  files: FileServices
  /** What the editor is made of. */
  interfaceFiles(): Promise<InterfaceFiles>
  limits: Pick<AccountLimits, 'account' | 'take' | 'takeRefused' | 'peekRefused' | 'report'>
  /** Whether ended runs reach the disk, and how many wait for it. */
  writerHealth(): { healthy: boolean; waiting: number }
  /** What goes to Prometheus. */
  metrics: { requests: RequestMetrics; text(): Promise<string> }
  clock: Clock
  logger: Logger
  settings: HttpSettings
}

/** Every finding, and what the document registers when it becomes active: all that its triggers without errors do. */
export type WorkflowCheck = {
  findings: Finding[]
  registrations: Registrations
  /** When it is due next; undefined when it has no schedule. */
  nextTimes: readonly number[] | undefined
}

/**
 * The key that a text is: at once when it is known already. `malformed` when the text cannot be a key, undefined when
 * there is no such key, or when it was revoked or has expired.
 */
export type LookUpKey = (text: string) => KeyLookUp | Promise<KeyLookUp>
export type KeyLookUp = KeyRow | 'malformed' | undefined

export type InstallationFacts = {
  build: { version: string; commit: string; bun: string }
  startedAt: number
  /** How long log entries stay. */
  retention: { days: number; bytesMax: number }
  /** Where files of runs lie. */
  files: 'disk' | 's3'
}

/** Who is signed in to the dashboard. Tokens are what cookies and sign-in links hold. */
export type SessionServices = {
  /** Undefined for a token that is no session, or whose session has ended. */
  find(token: string): Promise<SignedIn | undefined>
  /** The account that everybody is who has not signed in; undefined when one has to. */
  visitor(): Promise<SignedIn | undefined>
  /** Whether nobody has to. */
  isOpen: boolean
  /** Rejects with INVALID_CREDENTIALS, RATE_LIMIT_EXCEEDED or OVERLOADED. */
  signIn(attempt: { email: string; password: string; address: string }): Promise<OpenedSession>
  /** Uses up a sign-in link. Undefined for one that cannot be used any more, or never could. */
  redeem(link: string): Promise<OpenedSession | undefined>
  /** Notes a use. When the session ends, if that was moved just now. */
  renew(token: string): number | undefined
  end(token: string): Promise<void>
  endOthers(userId: string, keptToken: string | undefined): Promise<void>
  /** Rejects like `signIn` when it is not the password of the account. */
  assertPassword(attempt: { userId: string; password: string; address: string }): Promise<void>
  /** After the roles of an account have changed: they hold at once for who is signed in. */
  invalidate(userId: string): void
  /** Ends all sessions of the account but one. INVALID_INPUT when it is no password. */
  setPassword(change: { userId: string; password: string; keptToken: string | undefined }): Promise<void>
}

export type OpenedSession = { token: string; userId: string; expiresAt: number }

/** Runs by hand, and whoever watches runs. */
export type ManualServices = {
  /** What the run can come to has to be in order. */
  compile(document: WorkflowDocument, reach: Reach): Compilation
  /** Throws OVERLOADED or STORAGE_UNAVAILABLE before anything has run. Nobody waits for its end. */
  start(request: RunRequest & { executionId: string }): void
  /** A run by hand that ended not long ago, as it was. */
  find(executionId: string): RunRecord | undefined
  /** What the log hides of a workspace's runs. */
  secretsOf(workspaceId: string): Promise<Redactor | undefined>
  receiveFiles: ReceiveFiles
  /** Deletes all that was stored for a run. */
  removeFiles(owner: FileOwner): Promise<void>
  /** A run that can be watched. */
  inFlight(executionId: string): { workspaceId: string } | undefined
  /** Answers how to stop; undefined when the run is neither in flight nor `expected` to begin. Throws OVERLOADED. */
  watch(executionId: string, watcher: Watcher, expected?: ExpectedRun): (() => void) | undefined
  /** Whether somebody waits for a run to begin. */
  isAwaited(executionId: string): boolean
  /** Tells those what happened in it: it has ended. */
  settle(executionId: string, messages: readonly string[]): void
}

export type FileServices = {
  freshen: FreshenFiles
  /** A file that the service itself serves; undefined when files lie elsewhere. */
  served: ServedFiles | undefined
}

export type ServedFiles = {
  verify(parts: { key: string; expires: string; signature: string }): 'valid' | 'expired' | 'forged'
  read(key: string): Promise<Blob | undefined>
}

/** `startedAt` null: it waits for its turn. */
export type JobInFlight = Omit<RunInFlight, 'startedAt'> & { createdAt: number; startedAt: number | null }

export type RunInFlight = { executionId: string; workflowId: string; workspaceId: string; startedAt: number }

export type HttpSettings = {
  /** The most that a body may have here, and the most that it may have on any route. */
  bodyBytesMax: number
  bodyBytesMaxAnywhere: number
  /** The public address of the service, without a slash at its end. A function: the port may be chosen at start. */
  baseUrl(): string
  version: string
}
