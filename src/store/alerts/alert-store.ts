import type { AlertChange, AlertOptions, AlertRow, EventType } from '../../domain/alert/alert.ts'
import type { AlertBatch } from '../../domain/alert/evaluation.ts'
import type { DeliveryState } from '../../domain/webhook/delivery.ts'

/**
 * The part of the port for events, alerts and event triggers. `append` writes evaluations. Nothing is noted for a
 * workspace without an active alert or event trigger.
 */
export interface AlertStore {
  /** Oldest first; none when there is no such workspace. */
  listAlerts(workspaceId: string): Promise<ListedAlert[]>
  getAlert(workspaceId: string, id: string): Promise<ListedAlert | undefined>
  /**
   * NOT_FOUND when there is no such workspace, INVALID_INPUT when a workflow is not in it, or beyond
   * `alertBounds.perWorkspaceMax`.
   */
  createAlert(alert: NewAlert): Promise<ListedAlert>
  /**
   * A change of what it watches, or a new activation, begins anew: it forgets what it has counted. NOT_FOUND when there
   * is no such alert, INVALID_INPUT when a workflow is not in the workspace.
   */
  changeAlert(workspaceId: string, id: string, change: AlertChange, at: number): Promise<ListedAlert>
  /** Its pending deliveries continue. False when there is no such alert. */
  deleteAlert(workspaceId: string, id: string, at: number): Promise<boolean>
  /** By their numbers, deleted ones included. */
  findAlerts(numbers: readonly number[]): Promise<AlertRow[]>

  /** Notes an event, if somebody may want to know. */
  noteEvent(event: NewEvent): Promise<void>
  /** The same for every workspace. */
  noteEventEverywhere(event: Pick<NewEvent, 'type' | 'at' | 'detail'>): Promise<void>
  /** Workspaces in which there is something to evaluate. `isWatched`: any workspace has an alert or event trigger. */
  findAlertWork(now: number): Promise<AlertWork>
  /** Undefined when nothing is watched in the workspace. */
  readAlertBatch(workspaceId: string, now: number, limit: number): Promise<AlertBatch | undefined>

  /** Runs that an event starts and that have not begun, oldest first. `after`: only those after this sequence. */
  listEventStarts(limit: number, after?: number): Promise<EventStart[]>
  /** Gives up the start of a run. What led to it stays known until the events that name the run are evaluated. */
  dropEventStart(sequence: number): Promise<void>
}

export type NewAlert = AlertOptions & { id: string; workspaceId: string; at: number; by: string }

/** `delivery`: of the latest message; null when there is none. */
export type ListedAlert = AlertRow & { delivery: { state: DeliveryState; problem: string | null } | null }

/** `workspaceId`: absent with a workflow, whose workspace counts then. */
export type NewEvent = {
  workspaceId?: string
  type: EventType
  workflowId?: string
  executionId?: string
  at: number
  detail?: string
}

export type AlertWork = { isWatched: boolean; hasStarts: boolean; workspaceIds: string[] }

/** A run that an event starts. */
export type EventStart = {
  sequence: number
  workflowId: string
  workspaceId: string
  ownerId: string
  /** The active version; null when there is none any more. */
  version: number | null
  executionId: string
  /** JSON of the firing's content. */
  content: string
  at: number
}
