import type { ScheduleRow } from '../domain/schedule/schedule.ts'
import type { NewSubscription, SubscriptionChange, SubscriptionRow } from '../domain/webhook/subscription.ts'
import type { Address, Registrations } from '../domain/workflow/trigger.ts'
import type { WorkflowDocument } from '../domain/workflow/workflow.ts'

/** The part of the port for workflows: documents, webhook subscriptions, versions and their registrations. */
export interface WorkflowStore {
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
  /** The active versions of a workspace's workflows, without documents, in the order in which these were created. */
  listActiveVersions(workspaceId: string): Promise<ActiveVersion[]>
  /** A page of a workspace's workflows. */
  pageWorkflows(query: WorkflowQuery): Promise<WorkflowPlace[]>
  /** Keeps the row for its log entries, frees the name and deletes its pins. False when there is no such workflow. */
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
   * Saves the document as the next version, with a name and a description, and makes it active. `registrations`
   * (absent: none) replace those of the previous version. CONFLICT when another workflow has one of its addresses.
   */
  deploy(
    workflowId: string,
    document: WorkflowDocument,
    at: number,
    userId: string,
    registrations?: Registrations,
    texts?: DeploymentTexts,
  ): Promise<DeploymentRow>
  /** Removes the active version and all registrations. */
  undeploy(workflowId: string): Promise<void>
  /** False when there is no such version. CONFLICT as for `deploy`. */
  activate(workflowId: string, version: number, at: number, registrations?: Registrations): Promise<boolean>
  /** Sets the name and description of a version. False when there is no such version. */
  describeDeployment(workflowId: string, version: number, texts: DeploymentTexts): Promise<boolean>
  /** Newest first; with a page, at most `limit` versions below `before`. */
  listDeployments(workflowId: string, page?: { before?: number | undefined; limit: number }): Promise<DeploymentRow[]>
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

  // secrets that authors wrote in documents
  /** Up to six documents that may hold sealed secrets, as JSON: drafts, versions, drafts of manual runs. */
  sampleSealedDocuments(): Promise<string[]>
  /** All of them. */
  listSealedDocuments(): Promise<StoredDocument[]>
  /** As JSON; undefined when it was deleted. */
  readDocument(place: StoredDocument): Promise<string | undefined>
  /** False when the document is no longer `before`. Counts as saved, unless `isSave` is false. */
  replaceDocument(place: StoredDocument, before: string, after: string, isSave?: boolean): Promise<boolean>

  // pins: outputs that manual runs of the draft use instead of running a block
  /** In the order of their blocks' IDs. */
  listPins(workflowId: string): Promise<PinRow[]>
  /**
   * Replaces the block's pin, and removes pins of blocks that the document no longer has. NOT_FOUND when there is no
   * such workflow, PAYLOAD_TOO_LARGE when its pins would hold more than `pinsBytesMax`.
   */
  setPin(workflowId: string, pin: NewPin): Promise<void>
  /** False when the block has no pin. */
  deletePin(workflowId: string, blockId: string): Promise<boolean>

  // tests of the draft; a deleted workflow keeps them until it is restored
  /** Undefined while none were ever saved, or when there is no such workflow. */
  getTests(workflowId: string): Promise<TestsRow | undefined>
  /**
   * Replaces all tests and returns their revision, which rises from 1. NOT_FOUND when there is no such workflow,
   * CONFLICT when they were saved after `ifRevision` (0: when there were none).
   */
  setTests(workflowId: string, tests: NewTests): Promise<number>

  // registrations of active versions
  /** The ID of the workflow that has this address. */
  findAddress(address: Address): Promise<string | undefined>
  /** Up to `limit` schedules in order of due time. `after`: the last one of the previous page. */
  listDueSchedules(limit: number, after?: Pick<ScheduleRow, 'dueAt' | 'workflowId'>): Promise<ScheduleRow[]>
  /** Schedules with a run that waits for the previous run to end. */
  listWaitingSchedules(): Promise<ScheduleRow[]>
  /** Undefined when the workflow is not deployed, or has no schedule. */
  getSchedule(workflowId: string): Promise<ScheduleRow | undefined>
}

export type NewWorkflow = {
  id: string | null
  workspaceId: string
  document: WorkflowDocument
  /** Its subscriptions. */
  webhooks?: readonly NewSubscription[]
  by?: string
  at: number
  /** The workflow whose pins and tests it gets, too. */
  copyOf?: string
}

export type WorkflowQuery = {
  workspaceId: string
  /** Those directly in this folder; null: in no folder; absent: all. */
  folder?: string | null | undefined
  deployedOnly?: boolean
  /** Part of the name. Upper and lower case of A to Z are the same. */
  search?: string | undefined
  sort: WorkflowSort
  order: 'asc' | 'desc'
  /** The last workflow of the previous page. */
  after?: Omit<WorkflowPlace, 'id'> | undefined
  limit: number
}
export const workflowSorts = ['created', 'name', 'updated'] as const
export type WorkflowSort = (typeof workflowSorts)[number]

/** The place of a workflow in a list. `key`: what the list is sorted by. `number`: rises with each new workflow. */
export type WorkflowPlace = { id: string; key: string | number; number: number }

/** A row with a document, for work on all of them. Valid while the store is open. */
export type StoredDocument = {
  table: 'workflows' | 'deployments' | 'drafts'
  number: number
  workspaceId: string
}

/** `content`: the sealed output. */
export type PinRow = { blockId: string; content: Uint8Array; updatedAt: number }
/** `bytes`: of the output as JSON. */
export type NewPin = { blockId: string; content: Uint8Array; bytes: number; at: number }

/** `content`: the list of tests as JSON. */
export type TestsRow = { content: string; revision: number; updatedAt: number; updatedBy: string | null }
export type NewTests = { content: string; at: number } & SaveFacts

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
  /** The e-mail of that account; null when it no longer exists. */
  author: string | null
  active: boolean
  name: string | null
  description: string | null
}

export type ActiveVersion = { workflowId: string; version: number }

export type ActiveRow = {
  workflowId: string
  workspaceId: string
  /** The account that the workspace belongs to. */
  ownerId: string
  /** Null when the workflow is not deployed. */
  deployment: { version: number; document: WorkflowDocument } | null
}
