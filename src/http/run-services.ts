import type { ChatBudget } from '../accounts/chat-budget.ts'
import type { AccountLimits } from '../accounts/limits.ts'
import type { Environment } from '../domain/account/environment.ts'
import type { Clock } from '../domain/clock.ts'
import type { RequestClaim } from '../domain/run/claim.ts'
import type { FileOwner, FileStore } from '../domain/run/file.ts'
import type { ChatMessage } from '../domain/run/input.ts'
import type { PauseLinks } from '../domain/run/pause.ts'
import type { RunState } from '../domain/run/run-state.ts'
import type { InSlices } from '../domain/slices.ts'
import type { Address } from '../domain/workflow/trigger.ts'
import type { Deployment } from '../engine/deployments.ts'
import type { JobRequest } from '../engine/jobs/jobs-options.ts'
import type { PauseAnswers } from '../engine/jobs/pause-answers.ts'
import type { RunEnd } from '../engine/run/run-end.ts'
import type { RunRequest } from '../engine/run/run-request.ts'
import type { ReceiveFiles, ReceiveForm } from '../files/upload.ts'
import type { RequestUnderWay } from '../store/process-store.ts'
import type { Store } from '../store/store.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Conversation } from '../triggers/conversations.ts'
import type { BodyLimits } from './requests/body-limits.ts'
import type { FormBodyServices } from './requests/form-body.ts'
import type { TraceReading } from './requests/trace-parent.ts'
import type { IdempotencyServices } from './routes/execution/idempotent-execution.ts'
import type { UnsentResponses } from './streams/unsent-responses.ts'

/** The services that the execute endpoint uses. Once caches are warm, all of it works from memory. */
export type ExecuteServices = {
  clock: Clock
  deployments: {
    get(workflowId: string): Deployment | undefined
    load(workflowId: string): Promise<Deployment | undefined>
  }
  execute(request: RunRequest): Promise<RunEnd>
  /** Writes large outputs. */
  inSlices: InSlices
  unsent: UnsentResponses
  /** Throws OVERLOADED or STORAGE_UNAVAILABLE before anything has run. */
  assertAccepting(workspaceId: string): void
  /** The same for asynchronous runs. */
  assertAcceptingJobs(): void
  receiveFiles: ReceiveFiles
  /** Accepts an asynchronous run; resolves when it is on disk. Rejects like `assertAccepting`. */
  accept(request: JobRequest): Promise<{ executionId: string; createdAt: number }>
  /** The same with a claim. */
  acceptOnce(request: JobRequest, claim: RequestClaim): Promise<Acceptance>
  idempotency: IdempotencyServices
  /** See `RunStore`. */
  claimRunId(executionId: string, at: number): Promise<boolean>
  releaseRunId(executionId: string): Promise<void>
  /** The limits of the workspace's owner apply, whichever key is used. */
  limits: Pick<AccountLimits, 'account' | 'take' | 'peek' | 'assertWithinUsage'>
  settings: RunSettings
} & TraceReading

/** The services that the chat routes use. */
export type ChatServices = {
  clock: Clock
  /** The active version that an address leads to. */
  at(address: Address): Deployment | undefined | Promise<Deployment | undefined>
  environmentOf(workspaceId: string): Environment | Promise<Environment>
  execute(request: RunRequest): Promise<RunEnd>
  /** Writes large outputs. */
  inSlices: InSlices
  unsent: UnsentResponses
  /** Throws OVERLOADED or STORAGE_UNAVAILABLE before anything has run. `visitor`: see `RunRequest`. */
  assertAccepting(workspaceId: string, visitor: string | undefined): void
  receiveFiles: ReceiveFiles
  conversations: {
    history(conversation: Conversation): Promise<ChatMessage[]>
    keep(conversation: Conversation, turn: readonly ChatMessage[]): Promise<void>
  }
  /** Finds a run, in flight or ended. */
  findRun(executionId: string): Promise<RunState | undefined>
  /** The limits of the workspace's owner, and of addresses that guess keys or paths. */
  limits: Pick<
    AccountLimits,
    | 'account'
    | 'take'
    | 'assertWithinUsage'
    | 'takeRefused'
    | 'peekRefused'
    | 'takeWrongPassword'
    | 'peekWrongPassword'
    | 'takeChatVisitor'
  >
  /** The daily cost of public chats. */
  budget: Pick<ChatBudget, 'assertWithin'>
  settings: RunSettings
  logger: Pick<Logger, 'error'>
}

/**
 * The services that inbound webhooks use. Like the execute endpoint, they work from memory except for the run's own
 * commit.
 */
export type WebhookServices = TraceReading & {
  clock: Clock
  /** The active version that an address leads to. */
  at(address: Address): Deployment | undefined | Promise<Deployment | undefined>
  environmentOf(workspaceId: string): Environment | Promise<Environment>
  execute(request: RunRequest): Promise<RunEnd>
  /** Writes large outputs. */
  inSlices: InSlices
  unsent: UnsentResponses
  /** Resolves when the run is on disk, or with the run that holds its claim. */
  accept(request: JobRequest, claim: RequestClaim | undefined): Promise<Acceptance>
  /** The run that holds a request's claim. */
  findClaim(workflowId: string, key: string, at: number): Promise<string | undefined>
  /** See `ProcessStore`. */
  beginRequest(request: RequestUnderWay): Promise<boolean>
  endRequest(request: RequestUnderWay): Promise<void>
  /** Throws OVERLOADED or STORAGE_UNAVAILABLE before anything has run. `visitor`: see `RunRequest`. */
  assertAccepting(workspaceId: string, visitor: string | undefined): void
  /** The same for asynchronous runs. */
  assertAcceptingJobs(): void
  storeFile: FileStore['store']
  removeFiles(owner: FileOwner): Promise<void>
  /** The limits of the workspace's owner, and of addresses that guess keys or paths. */
  limits: Pick<
    AccountLimits,
    'account' | 'take' | 'assertWithinUsage' | 'takeRefused' | 'peekRefused' | 'takeWebhookVisitor'
  >
  logger: Pick<Logger, 'error'>
  settings: Pick<RunSettings, 'body' | 'anonymousBody' | 'anonymousBodyWithFiles'>
}

export type Acceptance = { job: { executionId: string } } | { job: undefined; claimedBy: string | null }

/** Settings of every endpoint that starts runs and may stream them. */
export type RunSettings = {
  body: BodyLimits
  /** For a workflow whose trigger declares files. */
  bodyWithFiles: BodyLimits
  /** For visitors, who send no credential. */
  anonymousBody: BodyLimits
  anonymousBodyWithFiles: BodyLimits
  cancelOnDisconnect: boolean
  /** Limit on the text that waits for a slow reader of a stream. */
  streamBufferBytes: number
}

/** The services that the form routes use. */
export type FormServices = Pick<
  WebhookServices,
  'clock' | 'at' | 'environmentOf' | 'execute' | 'inSlices' | 'unsent' | 'assertAccepting' | 'assertAcceptingJobs'
> & {
  /** Accepts an asynchronous run; resolves when it is on disk. */
  accept(request: JobRequest): Promise<{ executionId: string }>
  receiveFiles: ReceiveFiles
  receiveForm: ReceiveForm
  /** The limits of the workspace's owner, and of addresses that guess keys or paths. */
  limits: Pick<
    AccountLimits,
    | 'account'
    | 'take'
    | 'assertWithinUsage'
    | 'takeRefused'
    | 'takeWrongPassword'
    | 'peekWrongPassword'
    | 'takeFormVisitor'
  >
  /** The pages of a run's approvals. */
  pauses: PauseServices
  settings: FormBodyServices['settings']
  logger: Pick<Logger, 'error'>
}

/** The services that answering a pause needs. */
export type PauseServices = Pick<WebhookServices, 'clock' | 'environmentOf' | 'logger'> & {
  answers: Pick<PauseAnswers, 'find' | 'read' | 'readListed' | 'answer'>
  linksOf(contextId: string): PauseLinks
  /** The ID of a pause in a token; undefined for any other text. */
  readToken(token: string): string | undefined
  limits: Pick<AccountLimits, 'takeRefused'>
  store: Pick<Store, 'findUser' | 'findJob' | 'listRunPauses'>
  /** A compiled version of a workflow, which may be deleted. */
  deploymentOf(workflowId: string, version: number): Promise<Deployment | undefined>
  receiveFiles: ReceiveFiles
  receiveForm: ReceiveForm
  settings: FormBodyServices['settings']
}
