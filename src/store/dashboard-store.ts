import type { EntryFacts } from '../domain/run/log-entry.ts'
import type { WorkflowDocument } from '../domain/workflow/workflow.ts'

/** The part of the port that only the dashboard asks. */
export interface DashboardStore {
  /** The workflows of a workspace by name, with what ran in the `hours` hours up to and with that of `now`. */
  listWorkflowOverviews(workspaceId: string, now: number, hours: number): Promise<WorkflowOverview[]>
  /** Puts workflows of a folder, and of those below it, into another; `to` null: into none. How many there were. */
  moveFolder(workspaceId: string, from: string, to: string | null, at: number, by: string): Promise<number>
  /** The deleted workflows of a workspace, newest first, at most `limit`. */
  listDeletedWorkflows(workspaceId: string, limit: number): Promise<DeletedWorkflow[]>
  findDeletedWorkflow(id: string): Promise<DeletedWorkflow | undefined>
  /**
   * Restores a deleted workflow without its deployment. CONFLICT if the name is taken, NOT_FOUND if it was not deleted.
   */
  restoreWorkflow(id: string): Promise<void>
  /** The cost of an account's runs by day (UTC) and model, from a day on; oldest first. */
  listModelUsage(userId: string, from: number): Promise<ModelUsageRow[]>
}

export type WorkflowOverview = {
  id: string
  name: string
  description: string | null
  folder: string | null
  createdAt: number
  updatedAt: number
  /** E-mail of the account that saved it last, as far as it is known. */
  updatedBy: string | null
  revision: number
  activeVersion: number | null
  deployedAt: number | null
  hasChanges: boolean
  /** The run that was recorded last. */
  lastRun: EntryFacts | null
  /** By hour of their start, oldest first. */
  runs: number[]
  /** Those of them that failed. */
  errors: number[]
}

/** `version`: the one that was active. */
export type DeletedWorkflow = {
  id: string
  workspaceId: string
  deletedAt: number
  version: number | null
  document: WorkflowDocument
}

/** `day`: its first instant. */
export type ModelUsageRow = {
  day: number
  model: string
  runs: number
  cost: number
  promptTokens: number
  completionTokens: number
}
