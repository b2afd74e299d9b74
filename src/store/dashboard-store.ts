import type { EntryFacts } from '../domain/run/log-entry.ts'
import type { WorkflowDocument } from '../domain/workflow/workflow.ts'

/** The part of the port that only the dashboard uses. */
export interface DashboardStore {
  /**
   * The workflows of a workspace by name, with their runs of the last `hours` hours, including the hour of `now`.
   * `only`: the IDs of a few; absent: all.
   */
  listWorkflowOverviews(
    workspaceId: string,
    now: number,
    hours: number,
    only?: readonly string[],
  ): Promise<WorkflowOverview[]>
  /** The folders that contain workflows themselves, sorted by path. */
  listFolders(workspaceId: string): Promise<FolderRow[]>
  /** Moves the workflows of a folder and its subfolders to `to`; null: to no folder. Returns how many were moved. */
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
  /** E-mail of the account that saved the workflow last; null when it is not known. */
  updatedBy: string | null
  revision: number
  activeVersion: number | null
  deployedAt: number | null
  hasChanges: boolean
  /** The run that was recorded last. */
  lastRun: EntryFacts | null
  /** The number of runs by start hour, oldest first. */
  runs: number[]
  /** The number of failed runs by start hour. */
  errors: number[]
}

/** A folder, when its first workflow was created, when one of them was saved last, and how many it has. */
export type FolderRow = { path: string; createdAt: number; updatedAt: number; workflows: number }

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
