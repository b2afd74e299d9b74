// Long because it lists everything that the routes use.
import type { AccountLimits } from '../accounts/limits.ts'
import type { OAuthGrants } from '../accounts/oauth/grants.ts'
import type { SignInLinks } from '../accounts/sign-in-links.ts'
import type { Alerts } from '../alerts/alerts.ts'
import type { Assistant } from '../assistant/assistant.ts'
import type { Choices } from '../connectors/choices.ts'
import type { Connectors } from '../connectors/connectors.ts'
import type { ImportSettings } from '../connectors/import/import.ts'
import type { Imported } from '../connectors/import/imported.ts'
import type { Credentials } from '../credentials/credentials.ts'
import type { SignIns } from '../credentials/oauth/sign-ins.ts'
import type { TestCredential } from '../credentials/test-credential.ts'
import type { Clock } from '../domain/clock.ts'
import type { Limit } from '../domain/limits.ts'
import type { Mailer } from '../domain/mail/mailer.ts'
import type { ListMcpTools } from '../domain/mcp-server.ts'
import type { PollAnswer } from '../domain/poll/answer.ts'
import type { PollRow } from '../domain/poll/poll.ts'
import type { Redactor } from '../domain/redaction/redactor.ts'
import type { FileOwner, FreshenFiles } from '../domain/run/file.ts'
import type { RunRecord } from '../domain/run/log.ts'
import type { PriceTable } from '../domain/run/model-prices.ts'
import type { InSlices } from '../domain/slices.ts'
import type { DocumentLimits } from '../domain/workflow/document-size.ts'
import type { Registrations } from '../domain/workflow/trigger.ts'
import type { Finding, WorkflowDocument } from '../domain/workflow/workflow.ts'
import type { Compilation } from '../engine/compile/plan.ts'
import type { DocumentSecrets } from '../engine/document-secrets.ts'
import type { DeletedWorkflowRuns } from '../engine/jobs/deleted-workflow-runs.ts'
import type { PauseCommands } from '../engine/jobs/pause-commands.ts'
import type { RunBlocks } from '../engine/jobs/run-progress.ts'
import type { StartCounts } from '../engine/limits/start-counter.ts'
import type { Pins } from '../engine/manual/pins.ts'
import type { Reach } from '../engine/manual/reachable-part.ts'
import type { Reruns } from '../engine/manual/reruns.ts'
import type { RunEnd } from '../engine/run/run-end.ts'
import type { RunRequest } from '../engine/run/run-request.ts'
import type { WorkflowTests } from '../engine/tests/workflow-tests.ts'
import type { Entries } from '../entries/entries.ts'
import type { ExpectedRun, Watcher } from '../events/bus.ts'
import type { EditorRooms } from '../events/editor-rooms.ts'
import type { ReceiveFiles } from '../files/upload.ts'
import type { KeyRow } from '../store/account-store.ts'
import type { SignedIn } from '../store/session-store.ts'
import type { Store } from '../store/store.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { RequestMetrics } from '../telemetry/request-metrics.ts'
import type { TestListeners } from '../triggers/test-listeners.ts'
import type { DeliveryCommands } from '../webhooks/delivery-commands.ts'
import type { Subscriptions } from '../webhooks/subscriptions.ts'
import type { TestDeliveries } from '../webhooks/test-delivery.ts'
import type { DocumentServices } from './document-services.ts'
import type { Peers } from './peers/peers.ts'
import type { BodyLimits } from './requests/body-limits.ts'
import type { TakenRequest } from './requests/taken-request.ts'
import type { InterfaceFiles } from './responses/interface-files.ts'
import type { ChatServices, ExecuteServices, FormServices, PauseServices, WebhookServices } from './run-services.ts'
import type { UnsentResponses } from './streams/unsent-responses.ts'

/** Everything that the HTTP interface uses; `assembly/http-services.ts` puts it together. */
export type Services = DocumentServices & {
  store: Store
  lookUpKey: LookUpKey
  alerts: Alerts
  /** Sends e-mails of the service; undefined when the operator has set no mail server. */
  mailer: Mailer | undefined
  signInLinks: SignInLinks
  oauth: OAuthGrants
  deployments: {
    /** Call after a deployment has changed: the next run loads it again. */
    forget(workflowId: string): void
  }
  /**
   * Prepares a document from a client for the store: fills in the parameters that the service assigns, and seals the
   * secrets. `before`: the stored document.
   */
  completeDocument(
    document: WorkflowDocument,
    before: WorkflowDocument | undefined,
    workspaceId: string,
  ): Promise<{ document: WorkflowDocument; warnings: Finding[] }>
  /** The secrets that authors wrote in documents. */
  secrets: Pick<DocumentSecrets, 'restored' | 'sealed' | 'shown'>
  /** Checks the meaning of a document, stored or not. */
  checkWorkflow(document: WorkflowDocument, workspaceId: string): Promise<WorkflowCheck>
  runner: {
    /** A run that has not ended yet. */
    find(executionId: string): RunInFlight | undefined
    /** Synchronous runs of a workspace in flight. */
    runsOf(workspaceId: string): (RunInFlight & { trigger: string; workflowName: string })[]
    /** Asks a run to end. False when it is not in flight. */
    cancel(executionId: string, code: 'CANCELLED'): boolean
  }
  jobs: {
    /** An asynchronous run that has not ended. */
    find(executionId: string): Promise<JobInFlight | undefined>
    /**
     * Cancels a running or queued run; resolves when that is on disk. False when there is none, or it has ended;
     * `elsewhere` when another process has it.
     */
    cancel(executionId: string): Promise<boolean | 'elsewhere'>
  }
  /** The blocks of a run that has not ended. */
  blocksOf(executionId: string): Promise<RunBlocks>
  pauses: Pick<PauseCommands, 'resume' | 'extend'>
  /** Cancels the paused runs of deleted workflows. */
  runsOfDeleted: Pick<DeletedWorkflowRuns, 'look'>
  /**
   * The starts of a workflow with limits: how many run, how many wait, and the outcomes of starts over the limits since
   * this process started.
   */
  startsOf(workflowId: string): StartCounts & { running: number; waiting: number }
  manual: ManualServices
  /** The other processes of the installation. */
  peers: Peers
  /** Outputs that manual runs of drafts use instead of running blocks. */
  pins: Pick<Pins, 'of' | 'shown' | 'set' | 'delete'>
  tests: Pick<WorkflowTests, 'of' | 'save' | 'run' | 'addFromRun'>
  /** People who wait for a test request at a webhook trigger of a draft. */
  listeners: TestListeners<TakenRequest>
  reruns: Pick<Reruns, 'start' | 'find' | 'findRunning' | 'cancel'>
  /** Open editors. A route that saves a draft calls `saved`, so that everyone who has it open gets it. */
  editors: Pick<EditorRooms, 'join' | 'has' | 'place' | 'saved'>
  /** The routes that start runs. */
  runs: {
    execute: ExecuteServices
    webhooks: WebhookServices
    chats: ChatServices
    forms: FormServices
    pauses: PauseServices
  }
  /** Large responses, and reading from the log. */
  unsent: UnsentResponses
  /** The output of an asynchronous run as JSON text, when its log entry shows the output redacted or shortened. */
  outputOf(executionId: string): Promise<string | undefined>
  sessions: SessionServices
  installation: InstallationFacts
  /** The scheduled backups; undefined when there are none. */
  backups(): BackupFacts | undefined
  priceOf: PriceTable
  /** Webhook subscriptions of workflows. */
  subscriptions: Pick<
    Subscriptions,
    'of' | 'changing' | 'findProblems' | 'prepare' | 'create' | 'change' | 'rotate' | 'delete' | 'find'
  >
  deliveries: Pick<DeliveryCommands, 'resend' | 'resendFailed' | 'cancel'>
  /** Sends a test delivery. Rejects with OVERLOADED when it was aborted. */
  sendTestDelivery: TestDeliveries['run']
  sendTestAlert: TestDeliveries['runAlert']
  environments: {
    /** Encrypts and stores a variable; the next run reads it. Rejects with INVALID_INPUT when it is invalid. */
    set(variable: { workspaceId: string; name: string; value: string; plain: boolean }): Promise<{ updatedAt: number }>
    /** False when there is no such variable. */
    unset(workspaceId: string, name: string): Promise<boolean>
  }
  /** The secrets of a workspace; undefined when there are none. */
  redactorOf(workspaceId: string): Promise<Redactor | undefined>
  entries: Pick<Entries, 'change' | 'list' | 'bytesOf' | 'bytesMax'>
  assistant: Assistant | undefined
  choices: Pick<Choices, 'of'>
  polls: PollServices
  /** Lists the tools of an MCP server. Rejects with CONFLICT and the reason when that fails. */
  mcpTools: ListMcpTools
  connectors: Pick<Connectors, 'find' | 'list' | 'get' | 'put' | 'delete'>
  /** Makes a connector from another document. INVALID_INPUT says what is wrong with it. */
  connectorImports: {
    import(document: unknown, wanted: Omit<ImportSettings, 'limits'>, signal: AbortSignal): Promise<Imported>
  }
  /** Loads a document to import. CONFLICT says why that failed. */
  loadDocument(workspaceId: string, url: string, signal: AbortSignal): Promise<string>
  credentials: Pick<Credentials, 'list' | 'get' | 'create' | 'change' | 'delete'>
  /** Sign-ins of people with credentials at the providers of other services. */
  signIns: Pick<SignIns, 'start' | 'finish'>
  /** Gets a token if the kind needs one, and sends a request with the credential if there is a URL. */
  testCredential: TestCredential
  files: FileServices
  /** The files of the editor. */
  interfaceFiles(): Promise<InterfaceFiles>
  limits: Pick<
    AccountLimits,
    | 'account'
    | 'take'
    | 'takeRefused'
    | 'peekRefused'
    | 'takeUnknownEmail'
    | 'peekUnknownEmail'
    | 'takeAlertMailTest'
    | 'report'
  >
  /** Whether runs can be recorded, and how many wait for it. */
  /** Whether this process is to take no more work. */
  isDraining(): boolean
  writerHealth(): { healthy: boolean; waiting: number }
  /** The metrics for Prometheus. */
  metrics: { requests: RequestMetrics; text(): Promise<string> }
  clock: Clock
  inSlices: InSlices
  logger: Logger
  settings: HttpSettings
}

/** The polls of active versions, and trying those of drafts. */
export type PollServices = {
  list(workflowId: string): Promise<PollRow[]>
  /** Makes a poll due. False when there is no such poll. */
  now(workflowId: string, blockId: string): Promise<boolean>
  /** Sends the request of a draft's trigger. Undefined when there is no such trigger. */
  tryOut(draft: {
    document: WorkflowDocument
    blockId: string
    workspaceId: string
    signal: AbortSignal
  }): Promise<PollAnswer | undefined>
}

/** Every finding, and what the document's valid triggers register when it becomes active. */
export type WorkflowCheck = {
  findings: Finding[]
  registrations: Registrations
  /** When it is due next; undefined without a schedule. */
  nextTimes: readonly number[] | undefined
}

/**
 * Looks up a key by its text; returns at once when the key is cached. `malformed`: the text cannot be a key. Undefined:
 * the key does not exist, was revoked, or has expired.
 */
export type LookUpKey = (text: string) => KeyLookUp | Promise<KeyLookUp>
export type KeyLookUp = KeyRow | 'malformed' | undefined

export type InstallationFacts = {
  build: { version: string; commit: string; bun: string }
  startedAt: number
  /** How long log entries stay. */
  retention: { days: number; bytesMax: number }
  /** Limits of this installation, for people. */
  limits: readonly { setting: string; description: string; value: string }[]
  /** Where the files of runs are stored. */
  files: 'disk' | 's3'
}

/**
 * Times in epoch milliseconds. `failure`: why the latest attempt failed. `pruneFailure`: why old backups could not be
 * deleted.
 */
export type BackupFacts = {
  address: string
  everyMs: number
  last: { at: number; bytes: number } | undefined
  failure: string | undefined
  pruneFailure: string | undefined
  isRunning: boolean
}

/** Sessions of the dashboard. Tokens are the secrets in cookies and sign-in links. */
export type SessionServices = {
  /** Undefined when the token belongs to no session, or its session has ended. */
  find(token: string): Promise<(SignedIn & { createdAt: number }) | undefined>
  /** The account of visitors who have not signed in; undefined when sign-in is required. */
  visitor(): Promise<SignedIn | undefined>
  /** Whether sign-in is switched off. */
  isOpen: boolean
  /** Rejects with INVALID_CREDENTIALS, RATE_LIMIT_EXCEEDED or OVERLOADED. */
  signIn(attempt: { email: string; password: string; address: string }): Promise<OpenedSession>
  /** Redeems a sign-in link. Undefined when the link is used, expired or invalid. */
  redeem(link: string): Promise<OpenedSession | undefined>
  /** Notes a use. Returns when the session ends, if this use extended it. */
  renew(token: string): number | undefined
  end(token: string): Promise<void>
  endOthers(userId: string, keptToken: string | undefined): Promise<void>
  /** Rejects like `signIn` when the password is wrong. */
  assertPassword(attempt: { userId: string; password: string; address: string }): Promise<void>
  /** Call after the roles of an account have changed, so that its sessions get them at once. */
  invalidate(userId: string): void
  /** Sets the password and ends all other sessions. Rejects with INVALID_INPUT when the password is not acceptable. */
  setPassword(change: { userId: string; password: string; keptToken: string | undefined }): Promise<void>
}

export type OpenedSession = { token: string; userId: string; expiresAt: number }

/** Manual runs, and watching runs of every kind. */
export type ManualServices = {
  /** Compiles a document. Only the blocks that the run can reach must be valid. */
  compile(document: WorkflowDocument, workspaceId: string, reach: Reach): Promise<Compilation>
  /** Starts a run that nobody waits for. Throws OVERLOADED or STORAGE_UNAVAILABLE before anything has run. */
  start(request: RunRequest & { executionId: string }): { ending: Promise<RunEnd | undefined> }
  /** A recent manual run, unredacted. */
  find(executionId: string): RunRecord | undefined
  /** The redactor for a workspace's secrets. */
  secretsOf(workspaceId: string): Promise<Redactor | undefined>
  receiveFiles: ReceiveFiles
  /** Deletes the files that were stored for a run. */
  removeFiles(owner: FileOwner): Promise<void>
  /** A run that can be watched. */
  inFlight(executionId: string): { workspaceId: string } | undefined
  /**
   * Returns a function that stops watching; undefined when the run is neither in flight nor `expected`. Throws
   * OVERLOADED.
   */
  watch(executionId: string, watcher: Watcher, expected?: ExpectedRun): (() => void) | undefined
  /** Whether someone is waiting for a run to start. */
  isAwaited(executionId: string): boolean
  /** Sends the messages of an ended run to everyone who waited for it. */
  settle(executionId: string, messages: readonly string[]): void
}

export type FileServices = {
  freshen: FreshenFiles
  /** Files that the service itself serves; undefined when a bucket serves them. */
  served: ServedFiles | undefined
}

export type ServedFiles = {
  verify(parts: { key: string; expires: string; signature: string }): 'valid' | 'expired' | 'forged'
  read(key: string): Promise<Blob | undefined>
}

/** `startedAt` is null while the run is queued. `isElsewhere`: another process has claimed it. */
export type JobInFlight = Omit<RunInFlight, 'startedAt'> & {
  createdAt: number
  startedAt: number | null
  isElsewhere?: boolean
  status: 'queued' | 'processing' | 'paused'
}

export type RunInFlight = { executionId: string; workflowId: string; workspaceId: string; startedAt: number }

export type HttpSettings = {
  /** The limits of a body on most routes, and of one that may contain files. */
  body: BodyLimits
  bodyWithFiles: BodyLimits
  /** The limits of a workflow document. */
  documentBody: BodyLimits
  /** The bytes of the largest body on any route. */
  largestBody: Limit
  /** Limits on a workflow document. */
  document: DocumentLimits
  /**
   * The public address of the service, without a trailing slash. A function, because the port may be chosen at start.
   */
  baseUrl(): string
  /** How workspaces share what is limited for all of them (`domain/fair-share.ts`). */
  shareFactor: number
  /** The kind of the database. */
  store: 'sqlite' | 'postgres'
  version: string
}
